// The events of one run, from lines in which others may stand as well.
import {
  type EventOf,
  isObject,
  POLICY_HELD_BACK,
  type PolicyRef,
  parseEventLine,
} from '@subluminal/contracts';
import { RunSummarizer } from '../../stores/ledger/export/index.ts';
import { listSpool, readSpool } from '../sink/index.ts';
import type { RunOptions } from './options.ts';

/** A policy that a shim of the run has worked by. */
export interface LoadedPolicy extends PolicyRef {
  /** The compiled policy; null when it was too large for an event. */
  readonly snapshot: unknown;
}

export interface Gathered {
  readonly summarizer: RunSummarizer;
  readonly policies: readonly LoadedPolicy[];
  /** Calls that did not end well, as a shim counts them: one that was given up is none. */
  readonly errors: number;
  /** Lines that name the run, but are no whole event. */
  readonly torn: number;
  /** The policies of each shim, in the order in which it took them. */
  readonly loads: readonly (readonly LoadedPolicy[])[];
  /** How often a shim did not take a changed policy because it would let more pass. */
  readonly heldBack: number;
}

type Lines = AsyncGenerator<string, undefined, undefined>;
type Place = Pick<RunOptions, 'config' | 'paths'>;

const PAGE_EVENTS = 1_000;
const POLICIES_MAX = 100;
const SHIMS_MAX = 1_000;

export async function gather(lines: AsyncIterable<string>, runId: string): Promise<Gathered> {
  const summarizer = new RunSummarizer();
  const policies = new Map<string, LoadedPolicy>();
  const loads = new Map<string, LoadedPolicy[]>();
  let [errors, torn, heldBack] = [0, 0, 0];
  for await (const line of lines) {
    if (!line.includes(runId)) continue;
    const parsed = parseEventLine(line);
    if (!parsed.ok) torn += parsed.kind === 'unknown_type' ? 0 : 1;
    if (!parsed.ok || parsed.event.run_id !== runId) continue;
    const { event } = parsed;
    summarizer.add(event);
    if (event.type === 'policy_loaded') {
      addPolicy(policies, event);
      addLoad(loads, event);
    }
    if (event.type === 'shim_health' && event.health.reason === POLICY_HELD_BACK) heldBack += 1;
    if (event.type === 'tool_call_end' && hasFailed(event)) errors += 1;
  }
  const all = { summarizer, policies: [...policies.values()], loads: [...loads.values()] };
  return { ...all, errors, torn, heldBack };
}

function addLoad(
  loads: Map<string, LoadedPolicy[]>,
  { policy, document, source }: EventOf<'policy_loaded'>,
): void {
  const { policy_id, policy_version, policy_hash } = policy;
  const known = loads.get(source.shim_id) ?? [];
  if (known.length >= POLICIES_MAX || loads.size >= SHIMS_MAX) return;
  const snapshot = isObject(document) ? document : null;
  loads.set(source.shim_id, [...known, { policy_id, policy_version, policy_hash, snapshot }]);
}

function hasFailed({ status, error }: EventOf<'tool_call_end'>): boolean {
  return (status === 'ERROR' || status === 'TIMEOUT') && error?.class !== 'policy_block';
}

function addPolicy(
  policies: Map<string, LoadedPolicy>,
  { policy, document }: EventOf<'policy_loaded'>,
): void {
  const { policy_id, policy_version, policy_hash } = policy;
  const known = policies.get(policy_hash);
  if (known === undefined && policies.size >= POLICIES_MAX) return;
  const snapshot = known?.snapshot ?? (isObject(document) ? document : null);
  policies.set(policy_hash, { policy_id, policy_version, policy_hash, snapshot });
}

export async function* ledgerLines({ config }: Place, runId: string): Lines {
  // Only now: the agent has started and ended without the database being loaded.
  const { openSqliteReader } = await import('../../stores/ledger/index.ts');
  const reader = await openSqliteReader({ file: config['ledger.path'] });
  try {
    for (let afterSeq = 0; ; ) {
      const rows = await reader.events({ afterSeq, limit: PAGE_EVENTS, runId });
      for (const { line } of rows) if (line !== null) yield line;
      if (rows.length < PAGE_EVENTS) return undefined;
      afterSeq = rows.at(-1)?.seq ?? afterSeq;
    }
  } finally {
    await reader.close();
  }
}

/** What a ledger that does not answer has, and what waits for it. An event may stand in both: the
 * summary counts a call once. */
export async function* linesOnDisk(place: Place, runId: string): Lines {
  try {
    for await (const line of ledgerLines(place, runId)) yield line;
  } catch {
    // There is no ledger, or it cannot be read: then nothing is known to be in it.
  }
  for (const file of await listSpool(place.paths.spool)) {
    for await (const { lines } of readSpool(file)) for (const { line } of lines) yield line;
  }
  return undefined;
}
