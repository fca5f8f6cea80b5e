// Strings: what JSON.stringify would write for the unescaped text, found without unescaping
// where the text already is that.
import { AS_WRITTEN, type Piece, type Reader } from './reader.ts';
import {
  BACKSLASH,
  LEAD_FIRST,
  LOWER_B,
  LOWER_F,
  LOWER_N,
  LOWER_R,
  LOWER_T,
  LOWER_U,
  QUOTE,
  SLASH,
  SPACE,
  TRAIL_FIRST,
  TRAIL_LAST,
} from './units.ts';

/** Sticky, so that it runs over a long stretch in one step; its place is set before each use. */
const PLAIN = /[^"\\\x00-\x1f\ud800-\udfff]*/y;
const FOUR_HEX = /[0-9a-fA-F]{4}/y;
const KEY_LENGTH_SHORT = 32;

/** What stands at a place inside a string. */
type Special = 'end' | 'canonical' | 'rewritten' | 'invalid';

/** Reads a string from its opening quote; `reader.escaped` says whether it has an escape. */
export function readString(reader: Reader): Piece {
  const { text, at: start } = reader;
  let rewrittenTried = false;
  reader.escaped = false;
  reader.at = plainEnd(text, start + 1);
  for (;;) {
    const special = readSpecial(reader);
    if (special === 'end') {
      if (rewrittenTried) throw new Error('a string that was refused turned out to be valid');
      return AS_WRITTEN;
    }
    if (special === 'invalid') return undefined;
    if (special === 'rewritten' && !rewrittenTried) {
      const canonical = rewritten(reader, start);
      if (canonical !== undefined) return canonical;
      // The string is invalid: reading on finds the place.
      rewrittenTried = true;
    }
    // Escapes come in runs; starting the expression for nothing costs more than a look.
    if (reader.unit(reader.at) !== BACKSLASH) reader.at = plainEnd(text, reader.at);
  }
}

/** Reads the whole string at once, which the engine does faster than we could escape by escape. */
function rewritten(reader: Reader, start: number): Piece {
  const end = closingQuote(reader.text, reader.at);
  if (end === -1) return undefined;
  const literal = reader.text.slice(start, end + 1);
  let canonical: string;
  try {
    canonical = JSON.stringify(unescaped(literal));
  } catch {
    return undefined;
  }
  reader.at = end + 1;
  reader.escaped = true;
  return canonical === literal ? AS_WRITTEN : canonical;
}

/** The quote that ends a string, looked for from a place in it that no escape reaches across. */
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

function readSpecial(reader: Reader): Special {
  const { at } = reader;
  const unit = reader.unit(at);
  if (unit === QUOTE) {
    reader.at = at + 1;
    return 'end';
  }
  if (unit === BACKSLASH) return readEscape(reader);
  if (unit >= LEAD_FIRST) return readSurrogate(reader);
  reader.expected(unit < 0 ? 'a closing `"`' : 'an escape for a control character', at);
  return 'invalid';
}

function readEscape(reader: Reader): Special {
  const { at } = reader;
  reader.escaped = true;
  reader.at = at + 2;
  switch (reader.unit(at + 1)) {
    case QUOTE:
    case BACKSLASH:
    case LOWER_B:
    case LOWER_F:
    case LOWER_N:
    case LOWER_R:
    case LOWER_T:
      return 'canonical';
    case SLASH:
      return 'rewritten';
    case LOWER_U:
      FOUR_HEX.lastIndex = at + 2;
      if (FOUR_HEX.test(reader.text)) {
        reader.at = at + 6;
        return 'rewritten';
      }
      reader.expected('four hex digits', at + 2);
      return 'invalid';
    default:
      reader.expected('an escape that JSON knows', at + 1);
      return 'invalid';
  }
}

/** A pair stands as it is; a half of one has no UTF-8 form and must be escaped. */
function readSurrogate(reader: Reader): Special {
  const lead = reader.unit(reader.at);
  const trail = reader.unit(reader.at + 1);
  const paired = lead < TRAIL_FIRST && trail >= TRAIL_FIRST && trail <= TRAIL_LAST;
  reader.at += paired ? 2 : 1;
  return paired ? 'canonical' : 'rewritten';
}
