// The end of a run: what it did, its last event, and the bundle. Loaded when the agent has started,
// so that nothing of it keeps the agent waiting.
import { statSync } from 'node:fs';
import type { EventWriter } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { errorText } from '../../os/index.ts';
import {
  accountOf,
  gatherEvents,
  type HubReport,
  type RunPolicyLoad,
  type RunRecord,
} from './account.ts';
import { writeBundle } from './bundle.ts';
import { linesBehind } from './event-lines.ts';
import type { Account, AgentEnd, EndedRun, RunOptions, RunStatus } from './options.ts';
import { policyHarmsOf } from './policy-harms.ts';
import { endLastLine, type Trace } from './trace.ts';

interface FinishOptions {
  readonly options: RunOptions;
  readonly runId: string;
  readonly snapshot: Snapshot;
  readonly trace: Trace;
  readonly writer: EventWriter;
  readonly heard: HubReport;
  readonly agent: AgentEnd;
  readonly startedMs: number;
  readonly isTerminated: boolean;
}

type Finished = Pick<
  EndedRun,
  'status' | 'account' | 'isWhole' | 'hasPolicy' | 'policyHarms' | 'warnings'
>;

const FLUSH_MS = 5_000;
/** What a person or a job control sends; whatever else kills an agent is a failure of its own. */
const CANCELLING: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']);

export async function finishRun(finish: FinishOptions): Promise<Finished> {
  const { options, runId, trace, heard } = finish;
  await trace.sink.flush(FLUSH_MS);
  const read = await gatherEvents(runId, trace, options);
  const account = accountOf(read, heard, trace.isLossy());
  const status = statusOf(finish, account);
  const line = endLine(finish, account, status);
  const isWritten = await writeEnd(trace, line);
  const gathered = read.kind === 'none' ? undefined : read.gathered;
  gathered?.summarizer.addLine(line);
  const lacks = lacksOf(trace, account, { isWritten, torn: gathered?.torn ?? 0 });
  const bundle = await keepBundle(finish, gathered);
  const isWhole = lacks.length === 0 && bundle.length === 0;
  const hasPolicy = options.snapshot !== null || (gathered?.policies ?? []).some(isPolicy);
  const policyHarms =
    options.snapshot === null
      ? []
      : await policyHarmsOf({ options, snapshot: options.snapshot, gathered });
  const rest = { status, isWhole, hasPolicy, policyHarms, warnings: [...lacks, ...bundle] };
  if (account.kind !== 'events' || gathered === undefined) return { ...rest, account };
  return { ...rest, account: { kind: 'events', summary: gathered.summarizer.finish() } };
}

/** A shim without a policy works by one that decides nothing. */
function isPolicy({ policy_id, policy_version }: RunPolicyLoad): boolean {
  return policy_id !== 'none' || policy_version !== '0';
}

/** False when the last line is not where it should be: then others may be missing, too. */
async function writeEnd(trace: Trace, line: string): Promise<boolean> {
  const { file, sink } = trace;
  const before = file === undefined ? 0 : endOf(file.path);
  sink.write({ line, kind: 'durable' });
  sink.push();
  await sink.close(FLUSH_MS);
  if (file === undefined) return !trace.isLossy();
  try {
    for await (const one of linesBehind(file.path, before)) if (one === line) return true;
  } catch {
    // Not there at all.
  }
  return false;
}

/** Where the next line begins. */
function endOf(path: string): number {
  endLastLine(path);
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Why a file that was asked for is not whole. For the ledger, the account gives the reason. */
function lacksOf(
  { file, place }: Trace,
  account: Account,
  { isWritten, torn }: { readonly isWritten: boolean; readonly torn: number },
): readonly string[] {
  if (file === undefined) return [];
  const where = place.kind === 'none' ? 'what was printed' : file.path;
  if (!isWritten) return [`${where} is not whole: its last event could not be written.`];
  if (torn > 0) return [`${where} is not whole: ${torn} of its lines are torn.`];
  if (account.kind !== 'counted') return [];
  return [`${where} cannot be relied on: ${account.reason}.`];
}

function statusOf({ agent, isTerminated }: FinishOptions, account: Account): RunStatus {
  // A shim that found no hub ends the run for itself; its events still say so.
  const isEnded = account.kind === 'events' && account.summary.decisions.TERMINATE_RUN > 0;
  if (isTerminated || isEnded || agent.asked === 'policy') return 'TERMINATED';
  if (agent.asked === 'signal') return 'CANCELLED';
  if (agent.signal !== null && CANCELLING.has(agent.signal)) return 'CANCELLED';
  return agent.code === 0 ? 'SUCCEEDED' : 'FAILED';
}

function endLine(
  { writer, startedMs }: FinishOptions,
  account: Account,
  status: RunStatus,
): string {
  const ended_at = new Date().toISOString();
  const totals = account.kind === 'events' ? account.summary.totals : account.totals;
  const { calls_total, calls_allowed, calls_blocked, calls_throttled, errors_total } = totals;
  const duration_ms = Math.max(0, Math.round(performance.now() - startedMs));
  const counts = { calls_total, calls_allowed, calls_blocked, calls_throttled, errors_total };
  const run = { ended_at, status, summary: { ...counts, duration_ms } };
  return writer.line('run_end', { run }, ended_at);
}

async function keepBundle(
  { options, runId, snapshot, trace }: FinishOptions,
  gathered: RunRecord | undefined,
): Promise<readonly string[]> {
  const { bundle } = options;
  if (bundle === undefined) return [];
  if (gathered === undefined) return [`there is no bundle in ${bundle.dir}: its events are gone.`];
  const { policies, summarizer } = gathered;
  try {
    const summary = summarizer.finish();
    await writeBundle(bundle.dir, { trace, runId, snapshot, policies, summary });
    return [];
  } catch (cause) {
    return [`the bundle in ${bundle.dir} is not complete: ${errorText(cause)}.`];
  }
}
