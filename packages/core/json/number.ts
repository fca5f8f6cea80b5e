// Numbers as they stand in a text: validates one, and knows a canonical one at a glance.
import {
  canonicalNumber,
  EXPONENT_MAX,
  PLAIN_INTEGER_DIGITS_MAX,
  PLAIN_LEADING_ZEROS_MAX,
} from './decimal.ts';
import { AS_WRITTEN, type Piece, type Reader } from './reader.ts';
import { DOT, LOWER_E, MINUS, NINE, PLUS, UPPER_E, ZERO } from './units.ts';

const SMALL_FRACTION = '0'.repeat(PLAIN_LEADING_ZEROS_MAX + 1);

export function readNumber(reader: Reader): Piece {
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
  return asWritten ? AS_WRITTEN : rewritten(reader, start);
}

function rewritten(reader: Reader, start: number): Piece {
  const raw = reader.text.slice(start, reader.at);
  const canonical = canonicalNumber(raw);
  if (canonical === undefined) {
    const message = `expected an exponent of at most ${EXPONENT_MAX} either way`;
    return reader.fail('SUB_CANON_NUMBER', start, message);
  }
  return canonical === raw ? AS_WRITTEN : canonical;
}

function digitsEnd(text: string, start: number): number {
  const { length } = text;
  let at = start;
  while (at < length) {
    const unit = text.charCodeAt(at);
    if (unit < ZERO || unit > NINE) break;
    at++;
  }
  return at;
}
