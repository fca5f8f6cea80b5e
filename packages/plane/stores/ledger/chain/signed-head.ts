// A head: what the ledger held at one moment, signed. Heads form a chain of their own.
import { isObject } from '@subluminal/contracts';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { sha256 } from '../../../os/crypto/index.ts';
import { parseJson, readRegularFile, writePrivateFile } from '../../../os/index.ts';
import { hex } from './hash-chain.ts';

/**
 * `open` is written with the first events after a start, `close` when the writer stops: after a
 * `close`, no event may follow without an `open`.
 */
export type HeadKind = 'open' | 'interval' | 'close';

export interface Head {
  /** The number of the head, from 1. */
  readonly n: number;
  readonly kind: HeadKind;
  /** The last event that it covers, and that event's hash in hex. */
  readonly seq: number;
  readonly hash: string;
  /** How many events there are up to it. */
  readonly count: number;
  readonly createdAtMs: number;
  /** SHA-256 of the head before it, or zeros. */
  readonly prev: string;
  readonly keyId: string;
  readonly signature: string;
}
type Unsigned = Omit<Head, 'keyId' | 'signature'>;

export const NO_HEAD = '0'.repeat(64);
const KINDS: ReadonlySet<unknown> = new Set<HeadKind>(['open', 'interval', 'close']);
const HEX_HASH = /^[0-9a-f]{64}$/;

/** A writer that signs by `v2` seals what it keeps outside; `v1` was before that. */
export type HeadVersion = 'v1' | 'v2';

/** What is signed. The ledger's id keeps a head from passing for one of another ledger. */
function headText(ledgerId: string, head: Unsigned, version: HeadVersion): string {
  const { n, kind, seq, hash, count, createdAtMs, prev } = head;
  const tag = `subluminal.head.${version}`;
  return JSON.stringify([tag, ledgerId, n, kind, seq, hash, count, createdAtMs, prev]);
}

export function signHead(ledgerId: string, head: Unsigned, signer: Signer): Head {
  return { ...head, keyId: signer.keyId, signature: signer.sign(headText(ledgerId, head, 'v2')) };
}

/** By which version it was signed; undefined when it was not, by any key that is trusted. */
export function headHolds(
  ledgerId: string,
  head: Head,
  verifier: Verifier,
): HeadVersion | undefined {
  const signature = { keyId: head.keyId, value: head.signature };
  return (['v2', 'v1'] as const).find((version) =>
    verifier.verify(headText(ledgerId, head, version), signature),
  );
}

/** What the next head refers to. */
export function headHash(ledgerId: string, head: Head): string {
  return sha256(`${headText(ledgerId, head, 'v1')}\n${head.keyId}\n${head.signature}`);
}

interface NextHead {
  readonly kind: HeadKind;
  readonly seq: number;
  readonly hash: Uint8Array;
  readonly nowMs: number;
}

/** The head that follows `last`, still to be signed. */
export function followingHead(ledgerId: string, last: Head | undefined, next: NextHead): Unsigned {
  return {
    n: (last?.n ?? 0) + 1,
    kind: next.kind,
    seq: next.seq,
    hash: hex(next.hash),
    // Events are numbered without gaps.
    count: next.seq,
    createdAtMs: next.nowMs,
    prev: last === undefined ? NO_HEAD : headHash(ledgerId, last),
  };
}

export function isHead(value: unknown): value is Head {
  if (!isObject(value)) return false;
  const numbers = ['n', 'seq', 'count', 'createdAtMs'].map((name) => value[name]);
  const hashes = ['hash', 'prev'].map((name) => value[name]);
  return (
    numbers.every((number) => Number.isSafeInteger(number) && Number(number) >= 0) &&
    hashes.every((hash) => typeof hash === 'string' && HEX_HASH.test(hash)) &&
    KINDS.has(value['kind']) &&
    typeof value['keyId'] === 'string' &&
    typeof value['signature'] === 'string'
  );
}

// The last head as it is kept outside of the table of heads: in `ledger.head`, in the ledger's own
// notes, and wherever else somebody puts a copy.

export interface WitnessedHead {
  readonly ledgerId: string;
  readonly head: Head;
  /**
   * A signature of its own. Every head stands in the ledger with its signature, so without a seal
   * anybody could cut the ledger back to an older head and put that one in `ledger.head`.
   */
  readonly seal?: string;
}

/** Where the ledger itself notes its last head. */
export const NOTED_HEAD = 'signed_head';

function sealText({ ledgerId, head }: WitnessedHead): string {
  return JSON.stringify(['subluminal.witness.v1', ledgerId, headHash(ledgerId, head)]);
}

export function sealed(ledgerId: string, head: Head, signer: Signer): WitnessedHead {
  return { ledgerId, head, seal: signer.sign(sealText({ ledgerId, head })) };
}

export function sealHolds(witnessed: WitnessedHead, verifier: Verifier): boolean {
  const { head, seal } = witnessed;
  if (seal === undefined) return false;
  return verifier.verify(sealText(witnessed), { keyId: head.keyId, value: seal });
}

/** A signer recognises its own signatures without another key: ed25519 always makes the same one. */
export function signerAsVerifier(signer: Signer): Verifier {
  return {
    verify: (text, { keyId, value }) => keyId === signer.keyId && signer.sign(text) === value,
  };
}

export function formatWitness({ ledgerId, head, seal }: WitnessedHead): string {
  const kept = { format: 'subluminal.head.v1', ledger_id: ledgerId, head };
  return `${JSON.stringify(seal === undefined ? kept : { ...kept, seal })}\n`;
}

/** Reads what `formatWitness` wrote; undefined when it is anything else. */
export function parseWitness(text: string): WitnessedHead | undefined {
  const value = parseJson(text);
  if (!isObject(value) || value['format'] !== 'subluminal.head.v1') return undefined;
  const { ledger_id: ledgerId, head, seal } = value;
  if (typeof ledgerId !== 'string' || !isHead(head)) return undefined;
  if (seal === undefined) return { ledgerId, head };
  return typeof seal === 'string' ? { ledgerId, head, seal } : undefined;
}

/** Whether both are the same head, to the last bit. */
export function isSameHead(ledgerId: string, one: Head, other: Head): boolean {
  return headHash(ledgerId, one) === headHash(ledgerId, other);
}

interface KeptWitness {
  readonly ledgerId: string;
  /** The last of the table of heads. */
  readonly lastHead: Head | undefined;
  /** What the ledger itself notes as its last head. */
  readonly note: WitnessedHead | undefined;
  /** The text of `ledger.head`; undefined when the file is missing. */
  readonly beside: string | undefined;
  /** Without it, seals cannot be checked. */
  readonly verifier: Verifier | undefined;
}

/**
 * What is wrong with `ledger.head`. `late`: it is missing, as a crash between the first head and its
 * first witness leaves it. `old`: it has no seal, and an older version may have written it.
 */
export type WitnessFault = 'missing' | 'late' | 'unreadable' | 'unsealed' | 'old' | 'forged';

export function witnessFault(kept: KeptWitness): WitnessFault | undefined {
  const { ledgerId, lastHead, note, beside, verifier } = kept;
  if (beside === undefined) {
    if (lastHead === undefined && note === undefined) return undefined;
    const isNoted = note !== undefined && (verifier === undefined || sealHolds(note, verifier));
    const isFirst = lastHead?.n === 1 && isNoted && isSameHead(ledgerId, lastHead, note.head);
    return isFirst ? 'late' : 'missing';
  }
  const witness = parseWitness(beside);
  if (witness === undefined) return 'unreadable';
  if (verifier === undefined) return undefined;
  if (witness.seal !== undefined) return sealHolds(witness, verifier) ? undefined : 'forged';
  // A version that signs heads by v2 seals them, too.
  const isNew = lastHead !== undefined && headHolds(ledgerId, lastHead, verifier) === 'v2';
  return isNew ? 'unsealed' : 'old';
}

// The last head outside the database: what was cut off from the ledger's end is found by it.

const TEXT_BYTES_MAX = 1_048_576;

/** Keeps one small text. */
export interface Witness {
  /** Undefined when nothing was kept yet. */
  read(): Promise<string | undefined>;
  /** Replaces the text as a whole, or leaves the old one. */
  write(text: string): Promise<void>;
}

export function fileWitness(file: string): Witness {
  return { read: () => readText(file), write: async (text) => writePrivateFile(file, text) };
}

async function readText(file: string): Promise<string | undefined> {
  const read = readRegularFile(file, { bytesMax: TEXT_BYTES_MAX });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'read') return read.bytes.toString('utf8');
  throw Object.assign(new Error(`${file} ${read.why}`), { code: read.code });
}
