// Numbers by exact decimal value: two spellings of one value have one canonical form, and no
// digit is ever lost, however many there are.
import { AS_WRITTEN, type Piece, type TextReader } from './text-reader.ts';
import { DOT, LOWER_E, MINUS, NINE, PLUS, UPPER_E, ZERO } from './units.ts';

/** Integers of more digits are written with an exponent, as in ECMAScript. */
export const PLAIN_INTEGER_DIGITS_MAX = 21;
/** Fractions with more zeros after the point are written with an exponent, as in ECMAScript. */
export const PLAIN_LEADING_ZEROS_MAX = 5;
const EXPONENT_MAX = 999_999_999;
const SMALL_FRACTION = '0'.repeat(PLAIN_LEADING_ZEROS_MAX + 1);

/** Reads and validates a number, and recognises a canonical one without taking it apart. */
export function readNumber(reader: TextReader): Piece {
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

function rewrittenNumber(reader: TextReader, start: number): Piece {
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
