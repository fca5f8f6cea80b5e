// What the run did, from all of its events, wherever its shims have put them. Where events are missing,
// or differ from the hub's counts, the hub's counts stand in, with the reason.
import {
  type EventOf,
  isObject,
  POLICY_HELD_BACK,
  type PolicyRef,
  parseEventLine,
  SHIM_COUNTERS,
  type ShimSummary,
} from '@subluminal/contracts';
import { errorText, isAnswered } from '../../os/index.ts';
import { RunSummarizer } from '../../stores/ledger/export/index.ts';
import { eventPages } from '../../stores/ledger/store/stored-rows.ts';
import { createLedgerClient } from '../ingest/index.ts';
import { listSpool, readSpool } from '../sink/index.ts';
import { linesBehind } from './event-lines.ts';
import type { Account, RunOptions } from './options.ts';
import type { Trace } from './trace.ts';

export type GatheredRead =
  | { readonly kind: 'all'; readonly gathered: RunRecord }
  /** No ledger answers; these are in its file and in the spool. */
  | { readonly kind: 'on_disk'; readonly gathered: RunRecord }
  | { readonly kind: 'none'; readonly reason: string };

/** What the hub has heard from the shims of the run. */
export interface HubReport {
  readonly totals: ShimSummary;
  /** Servers whose shims never said goodbye: they may have done more than they reported. */
  readonly unended: readonly string[];
}

export interface GatherOptions extends Pick<RunOptions, 'config' | 'env' | 'paths' | 'models'> {
  /** How long a ledger that listens may take to confirm what it has. */
  readonly syncMs?: number;
}

const START_MS = 5_000;
/** Where nobody listens, it is known at once. A ledger that hundreds of runs end on together takes seconds. */
const SYNC_MS = 20_000;

export async function gatherEvents(
  runId: string,
  trace: Pick<Trace, 'file' | 'place'>,
  options: GatherOptions,
): Promise<GatheredRead> {
  try {
    if (trace.file !== undefined) {
      const { path, fromByte } = trace.file;
      const lines = linesBehind(path, fromByte);
      return { kind: 'all', gathered: await gather(lines, runId, options) };
    }
    if (trace.place.kind !== 'ledger') return { kind: 'none', reason: 'no events were kept' };
    return await fromLedger(runId, options);
  } catch (cause) {
    return { kind: 'none', reason: `its events cannot be read (${errorText(cause)})` };
  }
}

async function fromLedger(runId: string, options: GatherOptions): Promise<GatheredRead> {
  const { config, env, paths, syncMs = SYNC_MS } = options;
  const client = createLedgerClient({ socketPath: config['ledger.socket'] });
  let isThere = await client.sync(syncMs);
  // Whoever read the spool, which is of all runs, would keep the ledger even longer.
  if (!isThere && (await isAnswered(config['ledger.socket']))) {
    return { kind: 'none', reason: 'the ledger has not confirmed its events in time' };
  }
  if (!isThere) {
    const { ensureLedgerd } = await import('../daemon/start.ts');
    await ensureLedgerd({ env, paths, config }, START_MS);
    isThere = await client.sync(START_MS);
  }
  const lines = isThere ? ledgerLines(options, runId) : linesOnDisk(options, runId);
  return { kind: isThere ? 'all' : 'on_disk', gathered: await gather(lines, runId, options) };
}

/** The events count where they agree with the hub in everything; an agent could have changed them. */
export function accountOf(read: GatheredRead, heard: HubReport, isLossy: boolean): Account {
  const { unended } = heard;
  if (read.kind === 'none') {
    const kind = unended.length === 0 ? 'counted' : 'at_least';
    return { kind, totals: heard.totals, reason: read.reason };
  }
  const { gathered } = read;
  const totals = addedCounts(heard.totals, gathered.unheard);
  const summary = gathered.summarizer.finish();
  const seen = countsOf(gathered.summarizer, gathered.errors);
  const missing = totals.calls_total - seen.calls_total;
  const [server] = unended;
  const silent = `the shim of server ${server} ended without telling its counts`;
  const least = server === undefined ? totals : most(totals, seen);
  if (read.kind === 'on_disk') {
    const why = missing > 0 ? `the events of ${missing} calls were lost` : 'events were lost';
    if (missing > 0 || isLossy) return unanswered('counted', least, why);
    if (server === undefined) return unanswered('counted', totals, 'its events wait in the spool');
    return unanswered('at_least', least, `${silent}: events may be lost`);
  }
  if (missing > 0) {
    const reason = `the events of ${missing} calls are missing`;
    return { kind: 'counted', totals: least, reason };
  }
  if (server !== undefined) return { kind: 'at_least', totals: least, reason: silent };
  const differs = SHIM_COUNTERS.find((name) => (seen[name] ?? 0) !== (totals[name] ?? 0));
  if (differs === undefined) return { kind: 'events', summary };
  const reason = `the events say otherwise, ${differs}: ${seen[differs] ?? 0} instead of ${totals[differs] ?? 0}`;
  return { kind: 'counted', totals, reason };
}

function unanswered(
  kind: Exclude<Account['kind'], 'events'>,
  totals: ShimSummary,
  why: string,
): Account {
  return { kind, totals, reason: `no ledger answers, and ${why}` };
}

function countsOf(summarizer: RunSummarizer, errors: number): ShimSummary {
  const { totals, spared_total, answers_held_back } = summarizer.finish();
  return { ...totals, errors_total: errors, calls_spared: spared_total, answers_held_back };
}

/** What two have counted apart. */
export function addedCounts(one: ShimSummary, other: ShimSummary): ShimSummary {
  const counts: { -readonly [K in keyof ShimSummary]: ShimSummary[K] } = { ...one };
  for (const name of SHIM_COUNTERS) counts[name] = (one[name] ?? 0) + (other[name] ?? 0);
  return counts;
}

/** The larger of each counter. */
function most(one: ShimSummary, other: ShimSummary): ShimSummary {
  const counts: { -readonly [K in keyof ShimSummary]: ShimSummary[K] } = { ...one };
  for (const name of SHIM_COUNTERS) counts[name] = Math.max(one[name] ?? 0, other[name] ?? 0);
  return counts;
}

/** A policy that a shim of the run has worked by. */
export interface RunPolicyLoad extends PolicyRef {
  /** The compiled policy; null when it was too large for an event. */
  readonly snapshot: unknown;
}

export interface RunRecord {
  readonly summarizer: RunSummarizer;
  readonly policies: readonly RunPolicyLoad[];
  /** Calls that did not end well, as a shim counts them: one that was given up is none. */
  readonly errors: number;
  /** The turns of a run without a model plane: the proxy recorded them, and the hub has not heard of them. */
  readonly unheard: ShimSummary;
  /** Lines that name the run, but are no whole event. */
  readonly torn: number;
  /** The policies of each shim, in the order in which it took them. */
  readonly loads: readonly (readonly RunPolicyLoad[])[];
  /** How often a shim did not take a changed policy because it would let more pass. */
  readonly heldBack: number;
}

type Lines = AsyncGenerator<string, undefined, undefined>;
type LedgerPlace = Pick<RunOptions, 'config' | 'paths'>;

const POLICIES_MAX = 100;
const SHIMS_MAX = 1_000;

async function gather(
  lines: AsyncIterable<string>,
  runId: string,
  { models }: Pick<GatherOptions, 'models'>,
): Promise<RunRecord> {
  const summarizer = new RunSummarizer();
  const ofProxy = new RunSummarizer();
  const policies = new Map<string, RunPolicyLoad>();
  const loads = new Map<string, RunPolicyLoad[]>();
  let [errors, errorsOfProxy, torn, heldBack] = [0, 0, 0, 0];
  for await (const line of lines) {
    if (!line.includes(runId)) continue;
    const parsed = parseEventLine(line);
    if (!parsed.ok) torn += parsed.kind === 'unknown_type' ? 0 : 1;
    if (!parsed.ok || parsed.event.run_id !== runId) continue;
    const { event } = parsed;
    summarizer.add(event);
    const isOfProxy = models === undefined && event.type.startsWith('turn_');
    if (isOfProxy) ofProxy.add(event);
    if (event.type === 'policy_loaded') {
      const { policy_id, policy_version, policy_hash } = event.policy;
      const snapshot = isObject(event.document) ? event.document : null;
      const load = { policy_id, policy_version, policy_hash, snapshot };
      addPolicy(policies, load);
      const known = loads.get(event.source.shim_id) ?? [];
      if (known.length < POLICIES_MAX && loads.size < SHIMS_MAX) {
        loads.set(event.source.shim_id, [...known, load]);
      }
    }
    if (event.type === 'shim_health' && event.health.reason === POLICY_HELD_BACK) heldBack += 1;
    const isEnd = event.type === 'tool_call_end' || event.type === 'turn_end';
    if (!isEnd || !hasFailed(event)) continue;
    errors += 1;
    errorsOfProxy += isOfProxy ? 1 : 0;
  }
  const all = { summarizer, policies: [...policies.values()], loads: [...loads.values()] };
  return { ...all, errors, unheard: countsOf(ofProxy, errorsOfProxy), torn, heldBack };
}

function hasFailed({ status, error }: EventOf<'tool_call_end' | 'turn_end'>): boolean {
  return (status === 'ERROR' || status === 'TIMEOUT') && error?.class !== 'policy_block';
}

/** By hash, with the document where one of the events had it. */
function addPolicy(policies: Map<string, RunPolicyLoad>, load: RunPolicyLoad): void {
  const known = policies.get(load.policy_hash);
  if (known === undefined && policies.size >= POLICIES_MAX) return;
  policies.set(load.policy_hash, { ...load, snapshot: known?.snapshot ?? load.snapshot });
}

async function* ledgerLines({ config }: LedgerPlace, runId: string): Lines {
  // Only now: the agent has started and ended without the database being loaded.
  const { openSqliteReader } = await import('../../stores/ledger/index.ts');
  const reader = await openSqliteReader({ file: config['ledger.path'] });
  try {
    for await (const rows of eventPages(reader, { runId })) {
      for (const { line } of rows) if (line !== null) yield line;
    }
  } finally {
    await reader.close();
  }
  return undefined;
}

/** What a ledger that does not answer has, and what waits for it. An event may stand in both: the
 * summary counts a call once. */
async function* linesOnDisk(place: LedgerPlace, runId: string): Lines {
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
