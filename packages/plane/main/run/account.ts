// What the run did, from all of its events wherever its shims have put them. Where those cannot be
// had, the hub's counts stand in, and the reason is told.
import {
  type EventOf,
  isObject,
  type PolicyRef,
  parseEventLine,
  type ShimSummary,
} from '@subluminal/contracts';
import { createLedgerClient } from '../../ingest/index.ts';
import { RunSummarizer } from '../../ledger/export/index.ts';
import { linesBehind } from './lines.ts';
import type { Account, RunOptions } from './options.ts';
import type { Trace } from './trace.ts';

/** A policy that a shim of the run has worked by. */
interface LoadedPolicy extends PolicyRef {
  /** The compiled policy; null when it was too large for an event. */
  readonly snapshot: unknown;
}

interface Gathered {
  readonly summarizer: RunSummarizer;
  readonly policies: readonly LoadedPolicy[];
}

interface AccountOptions {
  readonly runId: string;
  readonly trace: Trace;
  readonly options: RunOptions;
}

type Read =
  | { readonly ok: true; readonly gathered: Gathered }
  | { readonly ok: false; readonly reason: string };

const START_MS = 5_000;
const SYNC_MS = 5_000;
const PAGE_EVENTS = 1_000;
const POLICIES_MAX = 100;

async function gatherEvents(options: AccountOptions): Promise<Read> {
  const { trace, runId } = options;
  try {
    if (trace.file !== undefined) {
      const { path, fromByte } = trace.file;
      return { ok: true, gathered: await gather(linesBehind(path, fromByte), runId) };
    }
    if (trace.place.kind !== 'ledger') return { ok: false, reason: 'no events were kept' };
    return await fromLedger(runId, options.options);
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    return { ok: false, reason: `its events cannot be read (${words})` };
  }
}

async function fromLedger(runId: string, options: RunOptions): Promise<Read> {
  const { config, env, paths } = options;
  const { ensureLedgerd } = await import('../ledgerd/start.ts');
  await ensureLedgerd({ env, paths, config }, START_MS);
  const client = createLedgerClient({ socketPath: config['ledger.socket'] });
  if (!(await client.sync(SYNC_MS))) {
    return { ok: false, reason: 'no ledger answers, and its events wait in the spool' };
  }
  // Only now: the agent has started and ended without the database being loaded.
  const { openSqliteReader } = await import('../../ledger/index.ts');
  const reader = await openSqliteReader({ file: config['ledger.path'] });
  try {
    const lines = async function* (): AsyncGenerator<string, undefined, undefined> {
      for (let afterSeq = 0; ; ) {
        const rows = await reader.events({ afterSeq, limit: PAGE_EVENTS, runId });
        for (const { line } of rows) if (line !== null) yield line;
        if (rows.length < PAGE_EVENTS) return undefined;
        afterSeq = rows.at(-1)?.seq ?? afterSeq;
      }
    };
    return { ok: true, gathered: await gather(lines(), runId) };
  } finally {
    await reader.close();
  }
}

/** Lines of other runs may stand between ours. */
async function gather(lines: AsyncIterable<string>, runId: string): Promise<Gathered> {
  const summarizer = new RunSummarizer();
  const policies = new Map<string, LoadedPolicy>();
  for await (const line of lines) {
    if (!line.includes(runId)) continue;
    const parsed = parseEventLine(line);
    if (!parsed.ok || parsed.event.run_id !== runId) continue;
    summarizer.add(parsed.event);
    if (parsed.event.type === 'policy_loaded') addPolicy(policies, parsed.event);
  }
  return { summarizer, policies: [...policies.values()] };
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

/** The account so far; the hub's word counts where it knows of more calls than the events show. */
function accountOf(read: Read, counted: ShimSummary): Account {
  if (!read.ok) return { kind: 'counted', totals: counted, reason: read.reason };
  const summary = read.gathered.summarizer.finish();
  const missing = counted.calls_total - summary.totals.calls_total;
  if (missing <= 0) return { kind: 'events', summary };
  const reason = `the events of ${missing} calls are missing`;
  return { kind: 'counted', totals: counted, reason };
}

export type { Gathered, LoadedPolicy, Read };
export { accountOf, gatherEvents };
