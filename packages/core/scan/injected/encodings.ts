// The shapes in which a known value turns up in text, exactly as they stand. What escapes, separators
// and cuts make of them is found by pieces.

/** One shape of a value. */
export interface Shape {
  readonly text: string;
  /** Upper and lower case are the same, as in hex; `text` is then in lower case. */
  readonly anyCase?: boolean;
  /** How many units before and behind hold a few bits of the value too. */
  readonly before?: number;
  readonly after?: number;
}

/** The encodings of more bytes are long enough, however many of their digits are signs. */
const SHORT_MAX = 64;
const ASCII = /^[\0-\x7f]*$/;
/** A shorter value may be a word that text has in another case. */
const ANY_CASE_FROM = 12;
/** What encoders keep: RFC 3986, JavaScript's for components, for forms, and for whole addresses. */
const KEPT = [
  /[A-Za-z0-9._~-]/,
  /[A-Za-z0-9._~!'()*-]/,
  /[A-Za-z0-9._*-]/,
  /[A-Za-z0-9._~/-]/,
  /[A-Za-z0-9._~!'()*;,/?:@&=+$#-]/,
];

/** The encodings that are too short to be looked for by pieces. */
function shortShapes(bytes: Units): Shape[] {
  if (bytes.units.length > SHORT_MAX) return [];
  const hex = { text: textOf(written(bytes, (byte) => hexOf(byte, 2))), anyCase: true };
  return [hex, ...base64Shapes(bytes)].filter(
    ({ text }) => text.replaceAll(/[^A-Za-z0-9]/g, '').length < ENCODED_MIN,
  );
}

function base64Shapes(bytes: Units): Shape[] {
  return BASE64.offsets.flatMap((offset) => {
    const text = textOf(digitsOf(bytes, BASE64, offset));
    const isWhole = (offset + bytes.units.length) % 3 === 0;
    const core = { text, before: offset === 0 ? 0 : 1, after: isWhole ? 0 : 1 };
    return [
      core,
      { ...core, text: text.replaceAll('+', '-').replaceAll('/', '_') },
      { ...core, text: text.replaceAll('/', '\\/') },
    ];
  });
}

/** Percent-encoded: what each of the usual encoders does not keep, in either case. */
function percentShapes({ units }: Units): Shape[] {
  const bytes = Array.from(units);
  const every = bytes.map((byte) => `%${hexOf(byte, 2)}`);
  const some = KEPT.flatMap((kept) => {
    const parts = bytes.map((byte, at) => {
      const char = String.fromCharCode(byte);
      return byte < 0x80 && kept.test(char) ? char : (every[at] ?? '');
    });
    const upper = parts.map((part) => (part.length === 1 ? part : part.toUpperCase())).join('');
    const lower = parts.join('');
    return [upper, lower].flatMap((text) => [text, text.replaceAll('%20', '+')]);
  });
  return some.map((text) => ({ text }));
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** Every unit that the pattern matches, as `\uXXXX`. */
function escaped(text: string, pattern: RegExp): string {
  return text.replace(pattern, (unit) => `\\u${hexOf(unit.charCodeAt(0), 4)}`);
}

/** As JSON writers escape it: the minimum, slashes too, ASCII only, safe for HTML, and twice. */
function jsonShapes(value: string): Shape[] {
  const least = inJson(value);
  const ascii = escaped(least, /[^\0-\x7e]/g);
  const html = escaped(least, /[^\0-\x7e]|[<>&+']/g);
  const upper = (text: string) =>
    text.replace(/\\u[0-9a-f]{4}/g, (one) => `\\u${one.slice(2).toUpperCase()}`);
  return [
    least,
    least.replaceAll('/', '\\/'),
    ascii,
    upper(ascii),
    html,
    upper(html),
    inJson(least),
  ].map((text) => ({ text }));
}

/** The value as it stands; a longer one in any case, where that is a matter of ASCII only. */
export function wholeShape(value: string): Shape {
  if (value.length < ANY_CASE_FROM || !ASCII.test(value)) return { text: value };
  return { text: value.toLowerCase(), anyCase: true };
}

/** The value itself, and its encodings as they stand in text. */
export function shapesOf(value: string): Shape[] {
  const bytes = utf8(value);
  const reversed = [...value].toReversed().join('');
  return [
    wholeShape(value),
    ...jsonShapes(value),
    ...percentShapes(bytes),
    ...shortShapes(bytes),
    { text: reversed },
    { text: inJson(reversed) },
  ];
}

/** The two halves, never through the middle of a character. */
export function halvesOf(value: string): Shape[] {
  const chars = [...value];
  const middle = Math.ceil(chars.length / 2);
  const halves = [chars.slice(0, middle).join(''), chars.slice(middle).join('')];
  return halves.flatMap((half) => [{ text: half }, { text: inJson(half) }]);
}

// Values as bytes, and bytes as the digits of Base64 and Base32.

/** Units, and from which place of the value each comes. */
export interface Units {
  readonly units: ArrayLike<number>;
  readonly originOf: (at: number) => number;
}

interface Base {
  /** The unit of each digit. */
  readonly alphabet: Uint8Array;
  readonly bits: number;
  /** After so many bytes a digit begins with a byte again. */
  readonly offsets: readonly number[];
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const unitsIn = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
const BASE64_DIGITS = `${LETTERS}${LETTERS.toLowerCase()}0123456789`;
const BASE64: Base = { alphabet: unitsIn(`${BASE64_DIGITS}+/`), bits: 6, offsets: [0, 1, 2] };
const BASE64_URL: Base = { ...BASE64, alphabet: unitsIn(`${BASE64_DIGITS}-_`) };
const BASE32: Base = { alphabet: unitsIn(`${LETTERS}234567`), bits: 5, offsets: [0, 1, 2, 3, 4] };

function pushPoint(bytes: number[], point: number): void {
  if (point < 0x80) {
    bytes.push(point);
    return;
  }
  const last = 0x80 | (point & 63);
  const third = 0x80 | ((point >> 6) & 63);
  if (point < 0x800) bytes.push(0xc0 | (point >> 6), last);
  else if (point < 0x1_0000) bytes.push(0xe0 | (point >> 12), third, last);
  else bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), third, last);
}

function utf8(text: string): Units {
  const units: number[] = [];
  const origins: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0;
    pushPoint(units, point);
    while (origins.length < units.length) origins.push(at);
    if (point >= 0x1_0000) at++;
  }
  return { units, originOf: (at) => origins[at] ?? 0 };
}

function utf16(text: string, order: 'little' | 'big'): Units {
  const units = new Uint8Array(text.length * 2);
  const [low, high] = order === 'little' ? [0, 1] : [1, 0];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    units[2 * at + low] = unit & 0xff;
    units[2 * at + high] = unit >> 8;
  }
  return { units, originOf: (at) => at >> 1 };
}

/** The digits that only these bytes decide when `offset` other bytes stand before them. */
function digitsOf({ units: bytes, originOf }: Units, base: Base, offset: number): Units {
  const { alphabet, bits } = base;
  const first = Math.ceil((offset * 8) / bits);
  const last = Math.floor(((offset + bytes.length) * 8) / bits);
  const mask = (1 << bits) - 1;
  const units = new Uint8Array(Math.max(0, last - first));
  for (let digit = first; digit < last; digit++) {
    const bit = digit * bits - offset * 8;
    const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    units[digit - first] = alphabet[(pair >> (16 - bits - (bit & 7))) & mask] ?? 0;
  }
  return { units, originOf: (at) => originOf(((first + at) * bits - offset * 8) >> 3) };
}

/** Each byte written by itself. */
function written({ units: bytes, originOf }: Units, write: (byte: number) => string): Units {
  const units: number[] = [];
  const origins: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const part = write(bytes[at] ?? 0);
    for (let digit = 0; digit < part.length; digit++) {
      units.push(part.charCodeAt(digit));
      origins.push(at);
    }
  }
  return { units, originOf: (at) => originOf(origins[at] ?? 0) };
}

function textOf({ units }: Units): string {
  return Array.from(units, (unit) => String.fromCharCode(unit)).join('');
}

const hexOf = (number: number, width: number) => number.toString(16).padStart(width, '0');

// What a value becomes in encodings that separators, line breaks and upper case can't hide: they are
// looked for by pieces, in text from which all but letters and digits is taken.

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

const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => hexOf(byte, 2));
const hexByte = (byte: number) => HEX_BYTES[byte] ?? '';

const formOf = (units: Units, pieceLength: number, shared = false): Form => ({
  ...units,
  pieceLength,
  shared,
});

export function plainForm(value: string): Form {
  const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at));
  return formOf({ units, originOf: (at) => at }, PLAIN);
}

/** Reversed by units: of a character of two, neither half is a letter that is looked at. */
export function reversedForm(value: string): Form {
  const last = value.length - 1;
  const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(last - at));
  return formOf({ units, originOf: (at) => last - at }, PLAIN);
}

function basedForms(bytes: Units, base: Base, pieceLength: number): Form[] {
  return base.offsets.map((offset) => formOf(digitsOf(bytes, base, offset), pieceLength, true));
}

function base64Twice(bytes: Units): Form[] {
  return BASE64.offsets.flatMap((offset) => {
    const digits = digitsOf(bytes, BASE64, offset);
    const isPlain = !/[+/]/.test(textOf(digits));
    const once = isPlain ? [digits] : [digits, digitsOf(bytes, BASE64_URL, offset)];
    return once.flatMap((inner) => basedForms(inner, BASE64, TWICE));
  });
}

/** UTF-16. In ASCII the two byte orders differ only in a zero at the ends. */
function wideForms(value: string): Form[] {
  const little = utf16(value, 'little');
  const orders = ASCII.test(value)
    ? [{ ...little, units: Array.from(little.units).slice(0, -1) }]
    : [little, utf16(value, 'big')];
  return orders.flatMap((bytes) => [
    formOf(written(bytes, hexByte), WIDE_HEX),
    ...basedForms(bytes, BASE64, WIDE_BASE64),
  ]);
}

/** Every encoding of a value in which it is looked for by pieces. */
export function encodedForms(value: string): Form[] {
  const bytes = utf8(value);
  const usual = [formOf(written(bytes, hexByte), HEX), ...basedForms(bytes, BASE64, PLAIN)];
  if (value.length > ALL_FORMS_LENGTH_MAX || value.length < ALL_FORMS_LENGTH_MIN) return usual;
  const prefixed = written(bytes, (byte) => `0x${hexByte(byte)}`);
  return [
    ...usual,
    ...base64Twice(bytes),
    ...wideForms(value),
    ...basedForms(bytes, BASE32, PLAIN),
    formOf(written(bytes, String), DECIMAL),
    formOf(prefixed, WIDE_HEX),
  ];
}
