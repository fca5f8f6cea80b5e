// Short texts out of bytes, in a package that has no TextDecoder.

/** Turns valid UTF-8 into text. The outside may supply a faster one. */
export type Decode = (bytes: Uint8Array, start: number, end: number) => string;

const FEW = 12;
const SHORT = 1_024;

export const decodeText: Decode = (bytes, start, end) => {
  if (end - start <= SHORT && isAscii(bytes, start, end)) {
    if (end - start > FEW) return fromUnits(bytes.subarray(start, end));
    let text = '';
    for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] ?? 0);
    return text;
  }
  const decoded = decodeUtf8(bytes.subarray(start, end));
  return decoded.ok ? decoded.text : decoded.textBefore;
};

/** A typed array serves as a list of arguments, which is much faster than spreading it. */
export function fromUnits(units: Uint8Array): string {
  const text: unknown = Reflect.apply(String.fromCharCode, undefined, units);
  return String(text);
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if ((bytes[at] ?? 0) >= 0x80) return false;
  }
  return true;
}

/** The text of a JSON string that has been found valid, from quote to quote. */
export function stringText(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  const text: unknown = JSON.parse(literal);
  if (typeof text !== 'string') throw new Error('a string turned out to be none');
  return text;
}

/** A copy of these bytes, one behind the other. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return joinBytes(parts);
}

/** The same for a list of any length. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The bytes of a text that is plain ASCII. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

// Strict UTF-8 in a package that has no TextDecoder: it finds the first bad byte.

type Utf8Result =
  | { readonly ok: true; readonly text: string }
  /** The text before the first bad byte, which gives its line and column. */
  | { readonly ok: false; readonly textBefore: string; readonly badByte: number };

/** Small enough to be spread into the arguments of one call. */
const CHUNK_UNITS = 8_192;
const SURROGATE_BASE = 0x1_00_00;

/** Decodes bytes; overlong forms, surrogates and whatever lies beyond U+10FFFF are bad bytes. */
export function decodeUtf8(bytes: Uint8Array): Utf8Result {
  const units = new Uint16Array(CHUNK_UNITS + 1);
  let text = '';
  let used = 0;
  let index = 0;
  while (index < bytes.length) {
    if (used >= CHUNK_UNITS) {
      text += String.fromCharCode(...units.subarray(0, used));
      used = 0;
    }
    const lead = bytes[index] ?? 0;
    if (lead < 0x80) {
      units[used++] = lead;
      index++;
      continue;
    }
    const end = sequenceEnd(bytes, index);
    if (end === -1) {
      text += String.fromCharCode(...units.subarray(0, used));
      return { ok: false, textBefore: text, badByte: lead };
    }
    const point = codePoint(bytes, index, end);
    if (point < SURROGATE_BASE) units[used++] = point;
    else {
      units[used++] = 0xd800 + ((point - SURROGATE_BASE) >> 10);
      units[used++] = 0xdc00 + ((point - SURROGATE_BASE) & 0x3ff);
    }
    index = end;
  }
  return { ok: true, text: text + String.fromCharCode(...units.subarray(0, used)) };
}

/** The character of a valid sequence. */
function codePoint(bytes: Uint8Array, start: number, end: number): number {
  let point = (bytes[start] ?? 0) & (0xff >> (end - start + 1));
  for (let at = start + 1; at < end; at++) point = (point << 6) | ((bytes[at] ?? 0) & 0x3f);
  return point;
}

/** Where the sequence beyond ASCII that starts here ends, or -1: overlong forms and surrogates are none. */
export function sequenceEnd(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  const rest = restLength(lead);
  const second = bytes[at + 1] ?? 0;
  if (rest === 0 || second < secondMin(lead) || second > secondMax(lead)) return -1;
  for (let next = at + 2; next <= at + rest; next++) {
    if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return -1;
  }
  return at + rest + 1;
}

/** How many bytes follow this first byte; 0 when no sequence starts like that. */
export function restLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return 1;
  return lead < 0xf0 ? 2 : 3;
}

export function secondMin(lead: number): number {
  if (lead === 0xe0) return 0xa0;
  return lead === 0xf0 ? 0x90 : 0x80;
}

export function secondMax(lead: number): number {
  if (lead === 0xed) return 0x9f;
  return lead === 0xf4 ? 0x8f : 0xbf;
}

const WORDS: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), asciiBytes(word)]),
);
const NUMBER_STARTS: ReadonlySet<number> = new Set(asciiBytes('-0123456789'));
const NUMBER_BYTES: ReadonlySet<number> = new Set(asciiBytes('-+.eE0123456789'));

/** Whether a word or number, of which `length` bytes are written, may go on with this one. */
export function isScalarByte(written: Uint8Array, length: number, byte: number): boolean {
  if (length === 0) return WORDS.has(byte) || NUMBER_STARTS.has(byte);
  const word = WORDS.get(written[0] ?? 0);
  return word === undefined ? NUMBER_BYTES.has(byte) : byte === word[length];
}
