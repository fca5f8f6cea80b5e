// Numbers by exact decimal value: two spellings of one value have one canonical form, and no
// digit is ever lost, however many there are.
import { DOT, MINUS, NINE, ZERO } from './units.ts';

/** Integers of more digits are written with an exponent, as in ECMAScript. */
export const PLAIN_INTEGER_DIGITS_MAX = 21;
/** Fractions with more zeros after the point are written with an exponent, as in ECMAScript. */
export const PLAIN_LEADING_ZEROS_MAX = 5;
export const EXPONENT_MAX = 999_999_999;

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
export function canonicalNumber(raw: string): string | undefined {
  const decimal = readDecimal(raw);
  if (decimal.digits === '') return '0';
  if (Math.abs(decimal.point - 1) > EXPONENT_MAX) return undefined;
  return (decimal.negative ? '-' : '') + formatMagnitude(decimal);
}

function readDecimal(raw: string): Decimal {
  const negative = raw.charCodeAt(0) === MINUS;
  const mantissaStart = negative ? 1 : 0;
  const mantissaEnd = endOfMantissa(raw, mantissaStart);
  const dot = raw.lastIndexOf('.', mantissaEnd);
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

function endOfMantissa(raw: string, start: number): number {
  for (let index = start; index < raw.length; index++) {
    const unit = raw.charCodeAt(index);
    if ((unit < ZERO || unit > NINE) && unit !== DOT) return index;
  }
  return raw.length;
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
