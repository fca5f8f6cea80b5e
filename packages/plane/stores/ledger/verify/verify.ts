// Proves that a ledger is what was written, or names the first row that is not.
//
// What can be proven: every event up to the last signed head is in its place with every byte, and
// no other is there; nothing was cut off that the head outside the ledger (`ledger.head`, or one
// kept elsewhere) was signed over; after a clean end nothing was added; the tables, indexes and
// triggers are those that our own steps make, and each index holds what its table holds. What cannot: that events
// after the last head of a crashed writer are all there, which the report says; and that the whole
// ledger was not put back to an older state together with an older copy of `ledger.head`, or written
// anew with another key — keep heads elsewhere for that.
import { type Failure, isFailure } from '@subluminal/contracts';
import type { Verifier } from '@subluminal/core/ports';
import { GENESIS, hex } from '../chain/hash-chain.ts';
import { NOTED_HEAD, type Witness, type WitnessedHead } from '../chain/signed-head.ts';
import { projectRows } from '../event-types/project.ts';
import type { ChainReader } from '../sqlite/chain-reads.ts';
import type { Scratch, StoreReader } from '../sqlite/sqlite-store.ts';
import { eventPages } from '../store/stored-rows.ts';
import { ChainWalk, type PruneReport } from './chain-walk.ts';
import { Findings, type LedgerFinding } from './finding.ts';
import { checkLag, HeadWalk, readWitnesses } from './head-walk.ts';
import { checkContent, checkCounts, compareTables, hasForeignTables } from './store-checks.ts';

export interface VerifyOptions {
  /** Without it, signatures cannot be checked: where there are some, that is an error. */
  readonly verifier?: Verifier | undefined;
  /** The head beside the ledger. */
  readonly witness?: Witness;
  /** Heads that were kept elsewhere, for example in a trace bundle. */
  readonly kept?: readonly WitnessedHead[];
  /** Rebuilds all rows from the events and compares them. */
  readonly deep?: boolean;
  /** Told again and again how many events were checked, of how many. */
  readonly onProgress?: ((checked: number, total: number) => void) | undefined;
  /** A writer is at work: the last events need not be signed yet. */
  readonly isWritten?: boolean;
}

export interface VerifyReport {
  readonly ok: boolean;
  readonly ledgerId: string;
  readonly events: number;
  readonly pruned: number;
  readonly heads: number;
  /** The last event that a head covers. */
  readonly signedSeq: number;
  /** Who signed the last head. */
  readonly keyId: string | null;
  readonly tip: { readonly seq: number; readonly hash: string };
  readonly signatures: 'checked' | 'unchecked';
  readonly projections: 'counted' | 'compared';
  readonly prunes: PruneReport;
  /** In the order in which they were found, at most 100. */
  readonly findings: readonly LedgerFinding[];
  readonly findingsTotal: number;
}

export async function verifyLedger(
  store: StoreReader,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  const first = await verifyOnce(store, options);
  // The first witness of a new ledger may have come just after we looked for it.
  const isLate = first.text === undefined && (await options.witness?.read()) !== undefined;
  return isLate ? (await verifyOnce(store, options)).report : first.report;
}

async function verifyOnce(store: StoreReader, options: VerifyOptions) {
  const scratch = options.deep === true ? await store.scratch() : undefined;
  try {
    // Before the snapshot: what the witness has seen, the snapshot has seen as well.
    const text = await options.witness?.read();
    const report = await store.snapshot((reader) =>
      verifySnapshot(reader, { ...options, text, scratch }),
    );
    return { report, text };
  } finally {
    await scratch?.close();
  }
}

interface SnapshotOptions extends VerifyOptions {
  readonly text: string | undefined;
  readonly scratch: Scratch | undefined;
}

async function verifySnapshot(
  reader: ChainReader,
  options: SnapshotOptions,
): Promise<VerifyReport> {
  const { verifier, scratch, witness, isWritten = false, kept = [] } = options;
  const findings = new Findings();
  // Rows of a table that is not ours prove nothing: all else would be read through it.
  if (await hasForeignTables(reader, findings)) return { ...UNPROVEN, ...found(findings) };
  const ledgerId = await reader.ledgerId();
  const tip = await reader.tip();
  const lastHead = await readLastHead(reader, findings);
  const signedSeq = lastHead?.seq ?? 0;
  if (verifier === undefined && lastHead !== undefined) {
    const message = `the key is missing: nobody can tell who signed the ${lastHead.n} heads`;
    findings.error('key', message);
  }
  const noted = await reader.meta(NOTED_HEAD);
  const beside = witness === undefined ? null : options.text;
  const about = { findings, ledgerId, verifier };
  const witnesses = readWitnesses({ ...about, lastHead, noted, beside, kept });
  const chain = new ChainWalk(findings, signedSeq);
  const heads = new HeadWalk({ ...about, reader, witnesses, isWritten });
  const onPage = () => options.onProgress?.(chain.counts.events, tip.seq);
  if (await walk(reader, { chain, heads, scratch, findings, onPage })) {
    chain.finish();
    await heads.finish(chain.lastSeq);
    await checkLag(findings, lastHead, witness);
    await checkCounts(reader, chain.counts, findings);
    if (scratch !== undefined) await compareTables(reader, scratch, findings);
  }
  await checkContent(reader, findings, scratch !== undefined);
  return {
    ledgerId,
    events: chain.counts.events,
    pruned: chain.counts.pruned,
    prunes: chain.own.prunes,
    heads: lastHead?.n ?? 0,
    signedSeq,
    keyId: lastHead?.keyId ?? null,
    tip: { seq: tip.seq, hash: hex(tip.hash) },
    signatures: verifier === undefined ? 'unchecked' : 'checked',
    projections: scratch === undefined ? 'counted' : 'compared',
    ...found(findings),
  };
}

function found({ errors, list, total }: Findings) {
  return { ok: errors === 0, findings: list, findingsTotal: total };
}

/** Of a ledger whose tables are not ours, nothing is read. */
const UNPROVEN = {
  ledgerId: '',
  events: 0,
  pruned: 0,
  prunes: { total: 0, last: [] },
  heads: 0,
  signedSeq: 0,
  keyId: null,
  tip: { seq: 0, hash: hex(GENESIS) },
  signatures: 'unchecked',
  projections: 'counted',
} as const;

interface Walkers {
  readonly chain: ChainWalk;
  readonly heads: HeadWalk;
  readonly scratch: Scratch | undefined;
  readonly findings: Findings;
  readonly onPage: () => void;
}

/** One page at a time. False when a row could not even be read. */
async function walk(reader: ChainReader, walkers: Walkers): Promise<boolean> {
  const { chain, heads, scratch, findings, onPage } = walkers;
  try {
    for await (const rows of eventPages(reader, { afterSeq: Number.MIN_SAFE_INTEGER })) {
      for (const row of rows) {
        chain.add(row);
        await heads.add(row);
      }
      await scratch?.merge(projectRows(rows));
      onPage();
    }
    return true;
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause;
    const message = `after event ${chain.lastSeq}, a row cannot be read: ${cause.message}`;
    findings.error('unreadable', message, [chain.lastSeq + 1, null]);
    return false;
  }
}

function isUnreadable(cause: unknown): cause is Failure {
  return isFailure(cause) && cause.code === 'SUB_LEDGER_CORRUPT';
}

async function readLastHead(reader: ChainReader, findings: Findings) {
  try {
    return await reader.lastHead();
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause;
    findings.error('unreadable', `the last head cannot be read: ${cause.message}`);
    return undefined;
  }
}
