// What a value becomes in encodings that separators, line breaks and upper case can't hide: they are
// looked for by pieces, in text from which all but letters and digits is taken.
import type { Units } from './bytes.ts';
import {
  BASE32,
  BASE64,
  BASE64_URL,
  digitsOf,
  hexOf,
  textOf,
  utf8,
  utf16,
  written,
} from './bytes.ts';

export interface Form extends Units {
  /** A piece of this length tells: it shows eight characters of the value or more. */
  readonly pieceLength: number;
  /** The digits beside it hold a few bits of the value too. */
  readonly shared: boolean;
}

/** Twelve characters, or what tells as much. */
const PLAIN = 12;
const HEX = 16;
const TWICE = 16;
const WIDE_BASE64 = 20;
const DECIMAL = 24;
const WIDE_HEX = 32;
/** Each further form of a longer value would cost more memory than it is worth. */
const ALL_FORMS_LENGTH_MAX = 8_192;
/** The decimal bytes of a shorter value are found in any list of numbers. */
const ALL_FORMS_LENGTH_MIN = 8;
/** Encodings with fewer letters and digits are looked for as they stand only. */
export const ENCODED_MIN = 12;

const ASCII = /^[\0-\x7f]*$/;
const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => hexOf(byte, 2));
const hexByte = (byte: number) => HEX_BYTES[byte] ?? '';

export function plainForm(value: string): Form {
  const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at));
  return { units, originOf: (at) => at, pieceLength: PLAIN, shared: false };
}

/** Reversed by units: of a character of two, neither half is a letter that is looked at. */
export function reversedForm(value: string): Form {
  const last = value.length - 1;
  const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(last - at));
  return { units, originOf: (at) => last - at, pieceLength: PLAIN, shared: false };
}

const bare = (units: Units, pieceLength: number): Form => ({
  ...units,
  pieceLength,
  shared: false,
});

function base64Forms(bytes: Units, pieceLength: number): Form[] {
  return BASE64.offsets.map((offset) => ({
    ...digitsOf(bytes, BASE64, offset),
    pieceLength,
    shared: true,
  }));
}

function base64Twice(bytes: Units): Form[] {
  return BASE64.offsets.flatMap((offset) => {
    const digits = digitsOf(bytes, BASE64, offset);
    const isPlain = !/[+/]/.test(textOf(digits));
    const once = isPlain ? [digits] : [digits, digitsOf(bytes, BASE64_URL, offset)];
    return once.flatMap((inner) => base64Forms(inner, TWICE));
  });
}

/** UTF-16. In ASCII the two byte orders differ only in a zero at the ends. */
function wideForms(value: string): Form[] {
  const little = utf16(value, 'little');
  const orders = ASCII.test(value)
    ? [{ ...little, units: Array.from(little.units).slice(0, -1) }]
    : [little, utf16(value, 'big')];
  return orders.flatMap((bytes) => [
    bare(written(bytes, hexByte), WIDE_HEX),
    ...base64Forms(bytes, WIDE_BASE64),
  ]);
}

function base32Forms(bytes: Units): Form[] {
  return BASE32.offsets.map((offset) => ({
    ...digitsOf(bytes, BASE32, offset),
    pieceLength: PLAIN,
    shared: true,
  }));
}

/** Every encoding of a value in which it is looked for by pieces. */
export function encodedForms(value: string): Form[] {
  const bytes = utf8(value);
  const usual = [bare(written(bytes, hexByte), HEX), ...base64Forms(bytes, PLAIN)];
  if (value.length > ALL_FORMS_LENGTH_MAX || value.length < ALL_FORMS_LENGTH_MIN) return usual;
  return [
    ...usual,
    ...base64Twice(bytes),
    ...wideForms(value),
    ...base32Forms(bytes),
    bare(written(bytes, String), DECIMAL),
    bare(
      written(bytes, (byte) => `0x${hexByte(byte)}`),
      WIDE_HEX,
    ),
  ];
}
