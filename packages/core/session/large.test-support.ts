// Large messages on their way through a session, for tests only.
import { bytesOf, type Play, toyHash } from './playbook.test-support.ts';
import type { Command, LargeEnd, Side } from './types.ts';

const INSPECT = 200;

/** A message, and how long it may be. */
export class Capped {
  readonly said: unknown;
  readonly cap: number;

  constructor(said: unknown, cap = Number.POSITIVE_INFINITY) {
    this.said = said;
    this.cap = cap;
  }
}

/** Sends a message in parts of some size, as a transport does with one that is too large to inspect. */
export function send({ session }: Play, side: Side, message: unknown) {
  const { said, cap } = message instanceof Capped ? message : new Capped(message);
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  const bytes = bytesOf(text);
  if (bytes.length <= INSPECT) throw new Error('this message is not large');
  const end = (outcome: LargeEnd['outcome'], bytesTotal: number) =>
    session.largeEnd(side, { outcome, bytesTotal, streamHash: toyHash(text) }, 10);
  const out: Command[] = [...session.handle(session.readHead(side, bytes.subarray(0, INSPECT)), 0)];
  for (let at = INSPECT; at < bytes.length; at += 64) {
    const piece = bytes.subarray(at, at + 64);
    if (at + piece.length > cap) return [...out, ...end('too_large', at + piece.length)];
    out.push(...session.largePiece(side, piece));
  }
  return [...out, ...end('complete', bytes.length)];
}
