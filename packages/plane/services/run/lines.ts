// A file of events, read in pieces: the agent could have written to it, so no line is trusted to end.
import { open } from 'node:fs/promises';
import { EVENT_LINE_LENGTH_MAX } from '@subluminal/contracts';

export const NEWLINE = 0x0a;
const PIECE_BYTES = 262_144;
/** A character takes up to three bytes of its line. */
export const LINE_BYTES_MAX = 3 * EVENT_LINE_LENGTH_MAX;

/** The whole lines behind a place, without their newlines; too long ones are left out. */
export async function* linesBehind(
  path: string,
  fromByte: number,
): AsyncGenerator<string, undefined, undefined> {
  const file = await open(path, 'r');
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    let parts: Buffer[] = [];
    let length = 0;
    for (let at = fromByte; ; ) {
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, at);
      if (bytesRead === 0) return undefined;
      at += bytesRead;
      let from = 0;
      for (;;) {
        const end = piece.subarray(0, bytesRead).indexOf(NEWLINE, from);
        const part = piece.subarray(from, end < 0 ? bytesRead : end);
        length += part.length;
        if (length <= LINE_BYTES_MAX) parts.push(Buffer.from(part));
        else parts = [];
        if (end < 0) break;
        if (length <= LINE_BYTES_MAX) yield Buffer.concat(parts).toString('utf8');
        [parts, length, from] = [[], 0, end + 1];
      }
    }
  } finally {
    await file.close();
  }
}
