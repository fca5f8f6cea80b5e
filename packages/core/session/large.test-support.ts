// Large messages on their way through a session, for tests only.
import { lineSplitter } from './frame.ts';
import { bytesOf, type Play, readHeadOnce, toyHash } from './playbook.test-support.ts';
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

/** Sends a message through the splitter, as a shim would, in chunks of some size. */
export function send({ session }: Play, side: Side, message: unknown) {
  const { said, cap } = message instanceof Capped ? message : new Capped(message);
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  const line = bytesOf(`${text}\n`);
  const splitter = lineSplitter({ inspectBytesMax: INSPECT, messageBytesMax: cap });
  const out: Command[] = [];
  const end = (outcome: LargeEnd['outcome'], bytesTotal: number) => {
    const streamHash = toyHash(text);
    out.push(...session.largeEnd(side, { outcome, bytesTotal, streamHash }, 10));
  };
  for (let at = 0; at < line.length; at += 64) {
    for (const framed of splitter.feed(line.subarray(at, at + 64))) {
      if (framed.kind === 'head')
        out.push(...session.handle(readHeadOnce(session, side, framed.bytes), 0));
      else if (framed.kind === 'piece') out.push(...session.largePiece(side, framed.bytes));
      else if (framed.kind === 'end') end('complete', framed.bytesTotal);
      else if (framed.kind === 'too_large') end('too_large', framed.bytesTotal);
      else throw new Error(framed.kind);
    }
  }
  return out;
}
