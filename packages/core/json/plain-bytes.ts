// Several bytes of a string at a time: most of a message of text is plain.
import { SPACE } from './units.ts';

/** Bytes that are not plain besides control characters: none, or all beyond ASCII. */
export const NOTHING_MORE = 0;
export const BEYOND_ASCII = 0x80808080 | 0;

/**
 * Whether none of four bytes is a quote, a backslash, below a space, or in `more`. Subtracting sets the
 * highest bit of a byte that was too small; where it was set before, the byte is beyond ASCII.
 */
export function arePlain(four: number, more: number): boolean {
  // Spelled out here: a constant of the file would be loaded anew for each four.
  const quote = four ^ 0x22222222;
  const slash = four ^ 0x5c5c5c5c;
  const small = ((four - 0x20202020) | 0) & ~four;
  const hasQuote = ((quote - 0x01010101) | 0) & ~quote;
  const hasSlash = ((slash - 0x01010101) | 0) & ~slash;
  return ((hasQuote | hasSlash | small | (four & more)) & 0x80808080) === 0;
}

/**
 * The first byte of a range that is a control character or in `more`; else its end. Sixteen bytes at a
 * time, as above.
 */
export function oddByteAt(
  view: DataView,
  { from, until }: { readonly from: number; readonly until: number },
  more: number,
): number {
  const lastStart = until - 16;
  let at = from;
  while (at < until) {
    while (at <= lastStart) {
      const one = view.getInt32(at, true);
      const two = view.getInt32(at + 4, true);
      const three = view.getInt32(at + 8, true);
      const four = view.getInt32(at + 12, true);
      const small =
        ((one - 0x20202020) & ~one) |
        ((two - 0x20202020) & ~two) |
        ((three - 0x20202020) & ~three) |
        ((four - 0x20202020) & ~four);
      if (((small | ((one | two | three | four) & more)) & 0x80808080) !== 0) break;
      at += 16;
    }
    const end = Math.min(until, at + 16);
    for (; at < end; at++) {
      const byte = view.getUint8(at);
      if (byte < SPACE || (byte >= 0x80 && more !== NOTHING_MORE)) return at;
    }
  }
  return until;
}
