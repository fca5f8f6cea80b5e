// A reader of JSON text with its first fault, and the canonical form of strings and numbers.

import {
  BACKSLASH,
  CARRIAGE_RETURN,
  DOT,
  END,
  ESCAPES,
  LEAD_FIRST,
  LINE_FEED,
  LOWER_E,
  LOWER_U,
  MINUS,
  NINE,
  PLAIN_INTEGER_DIGITS_MAX,
  PLAIN_LEADING_ZEROS_MAX,
  PLUS,
  QUOTE,
  SPACE,
  TAB,
  TRAIL_FIRST,
  TRAIL_LAST,
  UPPER_E,
  ZERO,
} from './units.ts';

export type CanonCode =
  | 'SUB_CANON_SYNTAX'
  | 'SUB_CANON_DUPLICATE_KEY'
  | 'SUB_CANON_DEPTH'
  | 'SUB_CANON_NUMBER';

export interface InvalidJson {
  readonly ok: false;
  readonly code: CanonCode;
  /** Where in the text, in UTF-16 units from 0. */
  readonly offset: number;
  readonly message: string;
}

/** Means that the text just read is canonical as written. No JSON value is an empty text. */
export const AS_WRITTEN = '';

/** The canonical text of the value, `AS_WRITTEN`, or undefined after a failure. */
export type CanonicalText = string | undefined;

export class TextReader {
  readonly text: string;
  /** Whether two keys of one object that differ only in case are a fault. */
  readonly foldsKeys: boolean;
  at = 0;
  failure: InvalidJson | undefined;
  /** Whether the string that was read last has an escape in it. */
  escaped = false;

  constructor(text: string, foldsKeys: boolean) {
    this.text = text;
    this.foldsKeys = foldsKeys;
  }

  /** The unit at a place. Reading past the end would slow every later `charCodeAt` down. */
  unit(at: number): number {
    return at < this.text.length ? this.text.charCodeAt(at) : END;
  }

  /** Moves over white space to the next unit, and returns it. */
  next(): number {
    const { text } = this;
    const { length } = text;
    let { at } = this;
    while (at < length) {
      const unit = text.charCodeAt(at);
      if (unit > SPACE || !isSpace(unit)) {
        this.at = at;
        return unit;
      }
      at++;
    }
    this.at = at;
    return END;
  }

  /** Fails at a place where something else was expected. */
  expected(what: string, offset: number): undefined {
    const found = offset < this.text.length ? quoted(this.text.charAt(offset)) : 'the end';
    this.fail('SUB_CANON_SYNTAX', offset, `expected ${what}, found ${found}`);
  }

  fail(code: CanonCode, offset: number, message: string): undefined {
    this.failure = { ok: false, code, offset, message };
  }
}

function isSpace(unit: number): boolean {
  return unit === SPACE || unit === LINE_FEED || unit === CARRIAGE_RETURN || unit === TAB;
}

/** Text from outside, safe to show in a message. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

// Strings: the canonical form is what JSON.stringify writes for the text. A string that is written like that
// is not unescaped.

/** Sticky, so that it runs over a long stretch in one step; its place is set before each use. */
const PLAIN = /[^"\\\x00-\x1f\ud800-\udfff]*/y;
const VALID_PART = /[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const KEY_LENGTH_SHORT = 32;

/** Reads a string from its opening quote; `reader.escaped` says whether it has an escape. */
export function readString(reader: TextReader): CanonicalText {
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
    // Escapes come in runs, and to check one unit is cheaper than to start the expression.
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
function rewrittenString(reader: TextReader, start: number, from: number): CanonicalText {
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

// Numbers by exact decimal value: two spellings of one value have one canonical form, and no
// digit is ever lost, however many there are.

const EXPONENT_MAX = 999_999_999;
const SMALL_FRACTION = '0'.repeat(PLAIN_LEADING_ZEROS_MAX + 1);

/** Reads and validates a number, and recognises a canonical one without taking it apart. */
export function readNumber(reader: TextReader): CanonicalText {
  const { text, at: start } = reader;
  const integer = reader.unit(start) === MINUS ? start + 1 : start;
  let at = digitsEnd(text, integer);
  const isZero = reader.unit(integer) === ZERO;
  if (at === integer) return reader.expected(at === start ? 'a value' : 'a digit', at);
  if (isZero && at > integer + 1) return reader.expected('no digit after a leading 0', integer + 1);
  let asWritten = at - integer <= PLAIN_INTEGER_DIGITS_MAX;
  let unit = reader.unit(at);
  if (unit === DOT) {
    const fraction = at + 1;
    at = digitsEnd(text, fraction);
    if (at === fraction) return reader.expected('a digit', at);
    if (text.charCodeAt(at - 1) === ZERO) asWritten = false;
    if (isZero && text.startsWith(SMALL_FRACTION, fraction)) asWritten = false;
    unit = reader.unit(at);
  } else if (isZero && integer !== start) {
    asWritten = false;
  }
  if (unit === LOWER_E || unit === UPPER_E) {
    asWritten = false;
    unit = reader.unit(++at);
    const exponent = unit === PLUS || unit === MINUS ? at + 1 : at;
    at = digitsEnd(text, exponent);
    if (at === exponent) return reader.expected('a digit', at);
  }
  reader.at = at;
  return asWritten ? AS_WRITTEN : rewrittenNumber(reader, start);
}

function rewrittenNumber(reader: TextReader, start: number): CanonicalText {
  const raw = reader.text.slice(start, reader.at);
  const canonical = canonicalNumber(raw);
  if (canonical === undefined) {
    const message = `expected an exponent of at most ${EXPONENT_MAX} either way`;
    return reader.fail('SUB_CANON_NUMBER', start, message);
  }
  return canonical === raw ? AS_WRITTEN : canonical;
}

function digitsEnd(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < ZERO || unit > NINE) break;
  }
  return at;
}

/** A value as ±0.DIGITS × 10^point, with neither leading nor trailing zeros in its digits. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly point: number;
}

/**
 * The canonical form of a valid JSON number, or undefined when its exponent is absurd. The form
 * depends on the value alone: ECMAScript's Number::toString over the exact digits. So up to 21
 * integer digits stay plain; beyond that an exponent bounds the length, and every digit stays.
 */
function canonicalNumber(raw: string): string | undefined {
  const decimal = readDecimal(raw);
  if (decimal.digits === '') return '0';
  if (Math.abs(decimal.point - 1) > EXPONENT_MAX) return undefined;
  return (decimal.negative ? '-' : '') + formatMagnitude(decimal);
}

function readDecimal(raw: string): Decimal {
  const negative = raw.charCodeAt(0) === MINUS;
  const mantissaStart = negative ? 1 : 0;
  const exponentAt = raw.search(/[eE]/);
  const mantissaEnd = exponentAt === -1 ? raw.length : exponentAt;
  const dot = raw.indexOf('.');
  const integerEnd = dot === -1 ? mantissaEnd : dot;
  const all =
    raw.slice(mantissaStart, integerEnd) + (dot === -1 ? '' : raw.slice(dot + 1, mantissaEnd));
  let first = 0;
  while (first < all.length && all.charCodeAt(first) === ZERO) first++;
  let last = all.length;
  while (last > first && all.charCodeAt(last - 1) === ZERO) last--;
  // Long exponents lose precision here, but then no mantissa could bring them back into range.
  const exponent = mantissaEnd === raw.length ? 0 : Number(raw.slice(mantissaEnd + 1));
  const point = integerEnd - mantissaStart - first + exponent;
  return { negative, digits: all.slice(first, last), point };
}

function formatMagnitude({ digits, point }: Decimal): string {
  if (point > 0 && point <= PLAIN_INTEGER_DIGITS_MAX) {
    if (digits.length <= point) return digits + '0'.repeat(point - digits.length);
    return `${digits.slice(0, point)}.${digits.slice(point)}`;
  }
  if (point <= 0 && point >= -PLAIN_LEADING_ZEROS_MAX) return `0.${'0'.repeat(-point)}${digits}`;
  const fraction = digits.length === 1 ? '' : `.${digits.slice(1)}`;
  return `${digits.slice(0, 1)}${fraction}e${point > 0 ? '+' : '-'}${Math.abs(point - 1)}`;
}
