// Texts of a request replaced in its bytes. Everything else stays as the client wrote it, so that caches of the
// provider and signatures hold.
import type { ByteRange } from '../json/byte-scanner.ts';
import { utf8Of } from '../json/patch-text.ts';
import { decodeText, joinBytes } from '../json/text.ts';
import { stringEnd } from '../json/text-parts.ts';
import type { PartText } from './part-texts.ts';

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

/**
 * What a text of a request is after `redact`, which gets it without escapes; undefined when it stays the same. In
 * arguments that are JSON inside of a string, `redact` gets each string of them, so that they stay JSON.
 */
export function replacementFor(
  bytes: Uint8Array,
  { range, isJson }: PartText,
  redact: (text: string) => string,
): TextReplacement | undefined {
  const before = parsedString(decodeText(bytes, range.start, range.end));
  if (before === undefined) throw new Error('a text of a request turned out to be none');
  const text = isJson ? redactedJson(before, redact) : redact(before);
  return text === before ? undefined : { range, text };
}

function redactedJson(json: string, redact: (text: string) => string): string {
  let result = '';
  let from = 0;
  for (let quote = json.indexOf('"'); quote !== -1; quote = json.indexOf('"', from)) {
    const end = stringEnd(json, quote);
    const before = end === -1 ? undefined : parsedString(json.slice(quote, end));
    // Not JSON after all: a model may write anything.
    if (before === undefined) return redact(json);
    const after = redact(before);
    const literal = after === before ? json.slice(quote, end) : JSON.stringify(after);
    result += json.slice(from, quote) + literal;
    from = end;
  }
  return result + (from === 0 ? redact(json) : json.slice(from));
}

function parsedString(literal: string): string | undefined {
  try {
    const text: unknown = JSON.parse(literal);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
