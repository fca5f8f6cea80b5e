// Closes what killed processes have left open: a run whose processes are all gone without an end on record,
// and its calls, are LOST. Events that come later all the same win over that.
import {
  type Event,
  type EventWriter,
  eventWriter,
  type Producer,
  parseEventLine,
} from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { attempt, type System, thisSystem } from '../../os/index.ts';
import type { HomePaths } from '../../stores/config/index.ts';
import { dropRunFiles, readAgentFile, runsOnFile } from '../../stores/identity/index.ts';
import type { CallRow, RunRow, Store } from '../../stores/ledger/index.ts';
import { dropStaleSockets } from '../../stores/runs/hub-socket.ts';
import type { IngestServer } from '../ingest/server.ts';

export interface LostOptions {
  readonly store: Pick<Store, 'runs' | 'run' | 'calls' | 'events'>;
  readonly server: Pick<IngestServer, 'sync' | 'take'>;
  readonly paths: Pick<HomePaths, 'run' | 'hostId'>;
  readonly system?: System;
}

export interface LostCounts {
  readonly runs: number;
  readonly calls: number;
}

const LOOKED_MAX = 1_000;
const REASON = 'The process that would have recorded the end was killed.';

/**
 * One look. First what is open: a run that starts now is not in it. Then who lives, then what has arrived:
 * what a dead process has sent is in the ledger then. Closes nothing when it is unknown who lives.
 */
export async function closeLost(options: LostOptions): Promise<LostCounts> {
  const { store, server, paths, system = thisSystem() } = options;
  const counts = { runs: 0, calls: 0 };
  const open = await openRuns(store);
  const files = runsOnFile(paths.run, system);
  if (files === undefined) return counts;
  const isDead = (runId: string) => files.get(runId) !== true;
  const candidates = open.filter(isDead);
  const hostId = attempt(() => readAgentFile(paths.hostId))?.trim();
  if (candidates.length > 0 && hostId !== undefined) {
    await server.sync();
    for (const runId of candidates) {
      const closed = await closeRun(options, runId, hostId);
      counts.runs += closed.runs;
      counts.calls += closed.calls;
    }
  }
  dropRunFiles(paths.run, new Set([...files.keys()].filter(isDead)), system);
  await dropStaleSockets(paths.run, Date.now());
  return counts;
}

/** The runs without an end, and those with a call that has none. */
async function openRuns(store: LostOptions['store']): Promise<readonly string[]> {
  const page = { limit: LOOKED_MAX };
  const { rows: runs } = await store.runs({ status: 'RUNNING' }, page);
  const { rows: calls } = await store.calls({ status: 'PENDING' }, page);
  return [...new Set([...runs, ...calls].map(({ run_id }) => run_id))];
}

/** Leaves a run of another home or machine, of which nothing is known here. */
async function closeRun(
  { store, server }: LostOptions,
  runId: string,
  hostId: string,
): Promise<LostCounts> {
  const first = await firstOf(store, runId);
  const run = await store.run(runId);
  if (first?.source.host_id !== hostId || run === undefined) return { runs: 0, calls: 0 };
  const { rows: calls } = await store.calls({ runId, status: 'PENDING' }, { limit: LOOKED_MAX });
  const writer = eventWriter(producerOf(first));
  const isOpen = run.status === null;
  const now = new Date().toISOString();
  const lines = [
    ...calls.map((call) => callEnd(writer, call, { run, now })),
    ...(isOpen ? [runEnd(writer, run, { lost: calls, now })] : []),
  ];
  const producer = uuidv7();
  if (lines.length > 0) {
    await server.take(lines.map((line, index) => ({ producer, seq: index + 1, line })));
  }
  return { runs: isOpen ? 1 : 0, calls: calls.length };
}

async function firstOf(store: LostOptions['store'], runId: string): Promise<Event | undefined> {
  const [row] = await store.events({ runId, afterSeq: 0, limit: 1 });
  const parsed = parseEventLine(row?.line ?? '');
  return parsed.ok ? parsed.event : undefined;
}

/** In the name of the run; the process is this one. */
function producerOf({ run_id, agent_id, client, env, principal, source }: Event): Producer {
  return {
    run_id,
    agent_id,
    client,
    env,
    source: { host_id: source.host_id, proc_id: uuidv7(), shim_id: uuidv7() },
    ...(principal !== undefined && { principal }),
  };
}

interface RunMoment {
  readonly run: RunRow;
  readonly now: string;
}

function callEnd(writer: EventWriter, call: CallRow, { run, now }: RunMoment): string {
  const end = {
    status: 'LOST',
    // Until the last sign of life.
    latency_ms: Math.max(0, run.last_at_ms - call.created_at_ms),
    bytes_out: 0,
    preview: { truncated: false },
    error: { class: 'transport', message: REASON },
  } as const;
  const { call_id } = call;
  if (call.kind === 'turn') {
    const { provider, model } = call;
    return writer.line('turn_end', { call: { call_id, provider, model }, ...end }, now);
  }
  const { server_name, tool_name, args_hash } = call;
  const ref = { call_id, server_name, tool_name, args_hash };
  return writer.line('tool_call_end', { call: ref, ...end }, now);
}

interface LostCalls {
  readonly lost: readonly CallRow[];
  readonly now: string;
}

function runEnd(writer: EventWriter, run: RunRow, { lost, now }: LostCalls): string {
  const { calls, started_at_ms, first_at_ms, last_at_ms } = run;
  const forwarded = lost.filter(({ decision }) => decision === 'ALLOW').length;
  const summary = {
    calls_total: calls.total,
    calls_allowed: calls.allowed,
    calls_blocked: calls.blocked,
    calls_throttled: calls.throttled,
    errors_total: calls.errors + forwarded,
    duration_ms: Math.max(0, last_at_ms - (started_at_ms ?? first_at_ms)),
  };
  const ended_at = new Date(last_at_ms).toISOString();
  return writer.line('run_end', { run: { ended_at, status: 'LOST', summary } }, now);
}
