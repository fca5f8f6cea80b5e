// Texts of a request replaced in its bytes. Everything else stays as the client wrote it, so that caches of the
// provider and signatures hold.
import type { ByteRange } from '../json/byte-scanner.ts';
import { utf8Of } from '../json/patch-text.ts';
import { joinBytes } from '../json/text.ts';

export interface TextReplacement {
  /** A JSON string, quotes included. */
  readonly range: ByteRange;
  /** The text that it should stand for. */
  readonly text: string;
}

/** The bytes with other texts in place of these strings; the same bytes when there are none. */
export function redactTexts(
  bytes: Uint8Array,
  replacements: readonly TextReplacement[],
): Uint8Array {
  if (replacements.length === 0) return bytes;
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { range, text } of replacements.toSorted((a, b) => a.range.start - b.range.start)) {
    if (range.start < from) throw new Error('two replacements overlap');
    pieces.push(bytes.subarray(from, range.start), utf8Of(JSON.stringify(text)));
    from = range.end;
  }
  pieces.push(bytes.subarray(from));
  return joinBytes(pieces);
}
