// A head: what the ledger held at one moment, signed. Heads form a chain of their own.
import { createHash } from 'node:crypto';
import { isObject } from '@subluminal/contracts';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { hex } from './chain.ts';

/**
 * `open` is written with the first events after a start, `close` when the writer stops: after a
 * `close`, no event may follow without an `open`.
 */
type HeadKind = 'open' | 'interval' | 'close';

interface Head {
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

const NO_HEAD = '0'.repeat(64);
const KINDS: ReadonlySet<unknown> = new Set<HeadKind>(['open', 'interval', 'close']);
const HEX_HASH = /^[0-9a-f]{64}$/;

/** What is signed. The ledger's id keeps a head from passing for one of another ledger. */
function headText(ledgerId: string, head: Unsigned): string {
  const { n, kind, seq, hash, count, createdAtMs, prev } = head;
  return JSON.stringify([
    'subluminal.head.v1',
    ledgerId,
    n,
    kind,
    seq,
    hash,
    count,
    createdAtMs,
    prev,
  ]);
}

function signHead(ledgerId: string, head: Unsigned, signer: Signer): Head {
  return { ...head, keyId: signer.keyId, signature: signer.sign(headText(ledgerId, head)) };
}

function headHolds(ledgerId: string, head: Head, verifier: Verifier): boolean {
  const signature = { keyId: head.keyId, value: head.signature };
  return verifier.verify(headText(ledgerId, head), signature);
}

/** What the next head refers to. */
function headHash(ledgerId: string, head: Head): string {
  const text = `${headText(ledgerId, head)}\n${head.keyId}\n${head.signature}`;
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

interface NextHead {
  readonly kind: HeadKind;
  readonly seq: number;
  readonly hash: Uint8Array;
  readonly nowMs: number;
}

/** The head that follows `last`, still to be signed. */
function followingHead(ledgerId: string, last: Head | undefined, next: NextHead): Unsigned {
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

/** A head with the ledger that it belongs to, as it stands in `ledger.head` or is kept elsewhere. */
interface WitnessedHead {
  readonly ledgerId: string;
  readonly head: Head;
}

function formatWitness({ ledgerId, head }: WitnessedHead): string {
  return `${JSON.stringify({ format: 'subluminal.head.v1', ledger_id: ledgerId, head })}\n`;
}

/** Reads what `formatWitness` wrote; undefined when it is anything else. */
function parseWitness(text: string): WitnessedHead | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['format'] !== 'subluminal.head.v1') return undefined;
  const { ledger_id: ledgerId, head } = value;
  return typeof ledgerId === 'string' && isHead(head) ? { ledgerId, head } : undefined;
}

function isHead(value: unknown): value is Head {
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

export type { Head, HeadKind, WitnessedHead };
export {
  followingHead,
  formatWitness,
  headHash,
  headHolds,
  isHead,
  NO_HEAD,
  parseWitness,
  signHead,
};
