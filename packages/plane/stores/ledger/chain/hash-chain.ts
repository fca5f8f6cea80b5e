// The hash chain: each event's hash covers its line, its producer, its place and all before it.
import { hash } from 'node:crypto';

export interface Link {
  readonly seq: number;
  readonly producer: string;
  readonly producerSeq: number;
  /** SHA-256 of the line's bytes. It stands for the line when the line was pruned. */
  readonly digest: Uint8Array;
}

const HASH_BYTES = 32;
/** Of a link: the hash before, two numbers and the digest. */
const FIXED_BYTES = 2 * HASH_BYTES + 16;
/** What the first event follows. */
export const GENESIS: Uint8Array = new Uint8Array(HASH_BYTES);
const EMPTY: Uint8Array = new Uint8Array(0);

export function digestOf(line: string | Uint8Array): Uint8Array {
  return hash('sha256', line, 'buffer');
}

/**
 * hash_n = SHA-256(hash_{n-1} ‖ seq ‖ producer_seq ‖ SHA-256(line) ‖ producer), numbers as 8 bytes,
 * big endian. The line comes in by its digest, so that a pruned line leaves a chain that can still
 * be recomputed; the producer comes last, because it alone has no fixed length.
 */
export function linkHash(previous: Uint8Array, link: Link): Uint8Array {
  const bytes = Buffer.allocUnsafe(FIXED_BYTES + Buffer.byteLength(link.producer, 'utf8'));
  bytes.set(previous, 0);
  writeCount(bytes, link.seq, HASH_BYTES);
  writeCount(bytes, link.producerSeq, HASH_BYTES + 8);
  bytes.set(link.digest, HASH_BYTES + 16);
  bytes.write(link.producer, FIXED_BYTES, 'utf8');
  return hash('sha256', bytes, 'buffer');
}

/** 8 bytes, big endian. */
function writeCount(bytes: Buffer, count: number, at: number): void {
  bytes.writeUInt32BE(Math.floor(count / 2 ** 32), at);
  bytes.writeUInt32BE(count % 2 ** 32, at + 4);
}

/** What is left of a pruned event. */
export interface Remains {
  readonly seq: number;
  /** The line without its previews, or null when nothing is left. */
  readonly line: string | null;
}

/** A chain of its own over everything that was pruned, in the order of seq. */
export function remainsHash(previous: Uint8Array, { seq, line }: Remains): Uint8Array {
  const rest = line === null ? EMPTY : digestOf(line);
  const bytes = Buffer.allocUnsafe(HASH_BYTES + 8 + rest.length);
  bytes.set(previous, 0);
  writeCount(bytes, seq, HASH_BYTES);
  bytes.set(rest, HASH_BYTES + 8);
  return hash('sha256', bytes, 'buffer');
}

export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
