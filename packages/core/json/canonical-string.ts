// Strings: what JSON.stringify would write for the unescaped text, found without unescaping
// where the text already is that.
import { ESCAPES } from './byte-scanner.ts';
import { AS_WRITTEN, type Piece, type TextReader } from './text-reader.ts';
import { BACKSLASH, LEAD_FIRST, LOWER_U, QUOTE, SPACE, TRAIL_FIRST, TRAIL_LAST } from './units.ts';

/** Sticky, so that it runs over a long stretch in one step; its place is set before each use. */
const PLAIN = /[^"\\\x00-\x1f\ud800-\udfff]*/y;
const VALID_PART = /[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const KEY_LENGTH_SHORT = 32;

/** Reads a string from its opening quote; `reader.escaped` says whether it has an escape. */
export function readString(reader: TextReader): Piece {
  const { text, at: start } = reader;
  let at = plainEnd(text, start + 1);
  reader.escaped = false;
  for (;;) {
    const unit = reader.unit(at);
    if (unit === QUOTE) {
      reader.at = at + 1;
      return AS_WRITTEN;
    }
    if (unit === BACKSLASH && ESCAPES[reader.unit(at + 1)] === 2) reader.escaped = true;
    else if (!isPair(reader, at)) return rewrittenString(reader, start, at);
    at += 2;
    // Escapes come in runs; starting the expression for nothing costs more than a look.
    if (reader.unit(at) !== BACKSLASH) at = plainEnd(text, at);
  }
}

/** A surrogate pair is canonical; half of one has no UTF-8 form and must be escaped. */
function isPair(reader: TextReader, at: number): boolean {
  const lead = reader.unit(at);
  if (lead < LEAD_FIRST || lead >= TRAIL_FIRST) return false;
  const trail = reader.unit(at + 1);
  return trail >= TRAIL_FIRST && trail <= TRAIL_LAST;
}

/** Rewrites the whole string at once, which the engine does faster than we could escape by escape. */
function rewrittenString(reader: TextReader, start: number, from: number): Piece {
  const end = closingQuote(reader.text, from);
  const literal = reader.text.slice(start, end + 1);
  try {
    const canonical = JSON.stringify(unescaped(literal));
    reader.at = end + 1;
    reader.escaped = true;
    return canonical === literal ? AS_WRITTEN : canonical;
  } catch {
    return stringFault(reader, start);
  }
}

/** Fails at the place where a string is invalid. */
function stringFault(reader: TextReader, start: number): undefined {
  const { text } = reader;
  let at = start + 1;
  VALID_PART.lastIndex = at;
  while (VALID_PART.test(text)) at = VALID_PART.lastIndex;
  const unit = reader.unit(at);
  if (unit < 0) return reader.expected('a closing `"`', at);
  if (unit !== BACKSLASH) return reader.expected('an escape for a control character', at);
  if (reader.unit(at + 1) === LOWER_U) return reader.expected('four hex digits', at + 2);
  return reader.expected('an escape that JSON knows', at + 1);
}

/** The quote that ends a string, looked for from a place in it that no escape reaches across; else -1. */
function closingQuote(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (quote !== -1) {
    let slashes = quote;
    while (slashes > from && text.charCodeAt(slashes - 1) === BACKSLASH) slashes--;
    if ((quote - slashes) % 2 === 0) return quote;
    quote = text.indexOf('"', quote + 1);
  }
  return -1;
}

/** Where a short string without anything special ends, from its opening quote; else -1. */
export function shortStringEnd(text: string, start: number): number {
  const stop = Math.min(text.length, start + KEY_LENGTH_SHORT);
  for (let at = start + 1; at < stop; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at + 1;
    if (unit === BACKSLASH || unit < SPACE || (unit >= LEAD_FIRST && unit <= TRAIL_LAST)) break;
  }
  return -1;
}

/** The text that a valid string literal stands for. */
export function unescaped(literal: string): string {
  return String(JSON.parse(literal));
}

function plainEnd(text: string, start: number): number {
  PLAIN.lastIndex = start;
  PLAIN.test(text);
  return PLAIN.lastIndex;
}
