// Texts of a request replaced in its bytes. Everything else stays as the client wrote it, so that caches of the
// provider and signatures hold.
import type { ByteRange } from '../json/byte-scanner.ts';
import { utf8Of } from '../json/patch-text.ts';
import { joinBytes } from '../json/text.ts';

export interface TextReplacement {
  /** A JSON value, for a string with its quotes, or a stretch of one. */
  readonly range: ByteRange;
  /** What takes its place, as it stands in JSON. */
  readonly json: string;
}

/** The bytes with other JSON in place of these values; the same bytes when there are none. */
export function redactTexts(
  bytes: Uint8Array,
  replacements: readonly TextReplacement[],
): Uint8Array {
  if (replacements.length === 0) return bytes;
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { range, json } of replacements.toSorted((a, b) => a.range.start - b.range.start)) {
    if (range.start < from) throw new Error('two replacements overlap');
    pieces.push(bytes.subarray(from, range.start), utf8Of(json));
    from = range.end;
  }
  pieces.push(bytes.subarray(from));
  return joinBytes(pieces);
}
