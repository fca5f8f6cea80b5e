// What the run did, from all of its events wherever its shims have put them. Where those cannot be
// had, or say otherwise than the hub, the hub's counts stand in, and the reason is told.
import { SHIM_COUNTERS, type ShimSummary } from '@subluminal/contracts';
import { createLedgerClient } from '../ingest/index.ts';
import { type Gathered, gather, ledgerLines, linesOnDisk } from './gather.ts';
import { linesBehind } from './lines.ts';
import type { Account, RunOptions } from './options.ts';
import type { Trace } from './trace.ts';

interface AccountOptions {
  readonly runId: string;
  readonly trace: Trace;
  readonly options: RunOptions;
}

export type Read =
  | { readonly kind: 'all'; readonly gathered: Gathered }
  /** No ledger answers; these are in its file and in the spool. */
  | { readonly kind: 'on_disk'; readonly gathered: Gathered }
  | { readonly kind: 'none'; readonly reason: string };

/** What the hub has heard from the shims of the run. */
export interface Heard {
  readonly totals: ShimSummary;
  /** Servers whose shims never said goodbye: they may have done more than they told. */
  readonly unended: readonly string[];
}

const START_MS = 5_000;
const SYNC_MS = 5_000;

export async function gatherEvents(options: AccountOptions): Promise<Read> {
  const { trace, runId } = options;
  try {
    if (trace.file !== undefined) {
      const { path, fromByte } = trace.file;
      return { kind: 'all', gathered: await gather(linesBehind(path, fromByte), runId) };
    }
    if (trace.place.kind !== 'ledger') return { kind: 'none', reason: 'no events were kept' };
    return await fromLedger(runId, options.options);
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    return { kind: 'none', reason: `its events cannot be read (${words})` };
  }
}

async function fromLedger(runId: string, options: RunOptions): Promise<Read> {
  const { config, env, paths } = options;
  const { ensureLedgerd } = await import('../daemon/start.ts');
  await ensureLedgerd({ env, paths, config }, START_MS);
  const client = createLedgerClient({ socketPath: config['ledger.socket'] });
  const isThere = await client.sync(SYNC_MS);
  const lines = isThere ? ledgerLines(options, runId) : linesOnDisk(options, runId);
  return { kind: isThere ? 'all' : 'on_disk', gathered: await gather(lines, runId) };
}

/** The events count where they agree with the hub in everything; an agent could have changed them. */
export function accountOf(read: Read, heard: Heard, isLossy: boolean): Account {
  const { totals, unended } = heard;
  if (read.kind === 'none') return { kind: 'counted', totals, reason: read.reason };
  const { gathered } = read;
  const summary = gathered.summarizer.finish();
  const seen: ShimSummary = {
    ...summary.totals,
    errors_total: gathered.errors,
    calls_spared: summary.spared_total,
    answers_held_back: summary.answers_held_back,
  };
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

function most(one: ShimSummary, other: ShimSummary): ShimSummary {
  const of = (name: (typeof SHIM_COUNTERS)[number]) => Math.max(one[name] ?? 0, other[name] ?? 0);
  return {
    calls_total: of('calls_total'),
    calls_allowed: of('calls_allowed'),
    calls_blocked: of('calls_blocked'),
    calls_throttled: of('calls_throttled'),
    errors_total: of('errors_total'),
    calls_spared: of('calls_spared'),
    answers_held_back: of('answers_held_back'),
  };
}
