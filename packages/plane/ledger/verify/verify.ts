// Proves that a ledger is what was written, or names the first row that is not.
//
// What can be proven: every event up to the last signed head is in its place with every byte, and
// no other is there; nothing was cut off that the head outside the ledger (`ledger.head`, or one
// kept elsewhere) was signed over; after a clean end nothing was added. What cannot: that events
// after the last head of a crashed writer are all there; and that the whole ledger was not put back
// to an older state together with `ledger.head` — keep heads elsewhere for that.
import type { Verifier } from '@subluminal/core/ports';
import { hex } from '../chain.ts';
import { LedgerError } from '../errors.ts';
import { headHolds, parseWitness, type WitnessedHead } from '../head.ts';
import type { ChainReader, Store, StoreReader } from '../store.ts';
import type { Witness } from '../witness.ts';
import { ChainWalk } from './chain-walk.ts';
import { type Finding, Findings, NOWHERE } from './finding.ts';
import { HeadWalk } from './head-walk.ts';
import { addToScratch, checkCounts, compareTables } from './projection-check.ts';

interface VerifyOptions {
  /** Without it, signatures are not checked, and the report says so. */
  readonly verifier?: Verifier | undefined;
  /** The head beside the ledger. */
  readonly witness?: Witness;
  /** Heads that were kept elsewhere, for example in a trace bundle. */
  readonly kept?: readonly WitnessedHead[];
  /** Rebuilds all rows from the events and compares them. */
  readonly deep?: boolean;
}

interface VerifyReport {
  readonly ok: boolean;
  readonly ledgerId: string;
  readonly events: number;
  readonly pruned: number;
  readonly heads: number;
  /** The last event that a head covers. */
  readonly signedSeq: number;
  readonly tip: { readonly seq: number; readonly hash: string };
  readonly signatures: 'checked' | 'unchecked';
  readonly projections: 'counted' | 'compared';
  /** In the order in which they were found, at most 100. */
  readonly findings: readonly Finding[];
  readonly findingsTotal: number;
}

const PAGE_EVENTS = 2_000;

async function verifyLedger(
  store: StoreReader,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  // Before the snapshot: what the witness has seen, the snapshot has seen as well.
  const kept = await options.witness?.read();
  const scratch = options.deep === true ? await store.scratch() : undefined;
  try {
    return await store.snapshot((reader) =>
      verifySnapshot(reader, { ...options, text: kept, scratch }),
    );
  } finally {
    await scratch?.close();
  }
}

interface SnapshotOptions extends VerifyOptions {
  readonly text: string | undefined;
  readonly scratch: Store | undefined;
}

async function verifySnapshot(
  reader: ChainReader,
  options: SnapshotOptions,
): Promise<VerifyReport> {
  const { verifier, scratch } = options;
  const findings = new Findings();
  const ledgerId = await reader.ledgerId();
  const tip = await reader.tip();
  const lastHead = await readLastHead(reader, findings);
  const signedSeq = lastHead?.seq ?? 0;
  const witnesses = readWitnesses(options, { findings, heads: lastHead?.n ?? 0 });
  const chain = new ChainWalk(findings, signedSeq);
  const heads = new HeadWalk({ reader, findings, ledgerId, verifier, witnesses });
  if (await walk(reader, { chain, heads, scratch, findings })) {
    chain.finish();
    await heads.finish(chain.lastSeq);
    await checkCounts(reader, chain.counts, findings);
    if (scratch !== undefined) await compareTables(reader, scratch, findings);
  }
  return {
    ok: findings.errors === 0,
    ledgerId,
    events: chain.counts.events,
    pruned: chain.counts.pruned,
    heads: lastHead?.n ?? 0,
    signedSeq,
    tip: { seq: tip.seq, hash: hex(tip.hash) },
    signatures: verifier === undefined ? 'unchecked' : 'checked',
    projections: scratch === undefined ? 'counted' : 'compared',
    findings: findings.list,
    findingsTotal: findings.total,
  };
}

interface Walkers {
  readonly chain: ChainWalk;
  readonly heads: HeadWalk;
  readonly scratch: Store | undefined;
  readonly findings: Findings;
}

/** One page at a time. False when a row could not even be read. */
async function walk(reader: ChainReader, walkers: Walkers): Promise<boolean> {
  const { chain, heads, scratch, findings } = walkers;
  let afterSeq = Number.MIN_SAFE_INTEGER;
  try {
    for (;;) {
      const rows = await reader.events({ afterSeq, limit: PAGE_EVENTS });
      for (const row of rows) {
        chain.add(row);
        await heads.add(row);
      }
      if (scratch !== undefined) await addToScratch(scratch, rows);
      if (rows.length < PAGE_EVENTS) return true;
      afterSeq = rows.at(-1)?.seq ?? afterSeq;
    }
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause;
    const message = `after event ${chain.lastSeq}, a row cannot be read: ${cause.message}`;
    findings.error('unreadable', [chain.lastSeq + 1, null], message);
    return false;
  }
}

function isUnreadable(cause: unknown): cause is LedgerError {
  return cause instanceof LedgerError && cause.code === 'SUB_LEDGER_CORRUPT';
}

async function readLastHead(reader: ChainReader, findings: Findings) {
  try {
    return await reader.lastHead();
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause;
    findings.error('unreadable', NOWHERE, `the last head cannot be read: ${cause.message}`);
    return undefined;
  }
}

/** The head beside the ledger, and those that were handed in; only those that hold count. */
function readWitnesses(
  { text, witness, kept = [], verifier }: SnapshotOptions,
  { findings, heads }: { readonly findings: Findings; readonly heads: number },
): readonly WitnessedHead[] {
  const beside = text === undefined ? undefined : parseWitness(text);
  if (witness !== undefined && beside === undefined && (heads > 0 || text !== undefined)) {
    const what = text === undefined ? 'missing' : 'unreadable';
    const message = `the head beside the ledger is ${what}: events removed from the end would go unnoticed`;
    findings.warning('witness', NOWHERE, message);
  }
  const all = beside === undefined ? kept : [beside, ...kept];
  return all.filter((one) => {
    if (verifier === undefined || headHolds(one.ledgerId, one.head, verifier)) return true;
    const message = `the signature of head ${one.head.n}, kept outside the ledger, does not hold`;
    findings.error('witness', NOWHERE, message);
    return false;
  });
}

export type { VerifyOptions, VerifyReport };
export { verifyLedger };
