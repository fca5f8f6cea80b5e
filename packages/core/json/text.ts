// Short texts out of bytes, in a package that has no TextDecoder.
import { decodeUtf8 } from './utf8.ts';

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
function fromUnits(units: Uint8Array): string {
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

/** The bytes of a text that is plain ASCII. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
