// Ids of requests: strings, numbers and null; everything else is none.

import { decodeText, stringText } from '../../json/text.ts';
import { DOT, LOWER_E, LOWER_N, MINUS, NINE, QUOTE, UPPER_E, ZERO } from '../../json/units.ts';
import type { MessageId } from './types.ts';

/** Longer ids are not kept: whoever sends one is told so. */
export const ID_BYTES_MAX = 1_024;
const NULL_ID: MessageId = { type: 'null', json: 'null' };

/** The id that a valid JSON value is, or undefined. Two spellings of one id give the same. */
export function idOf(bytes: Uint8Array, start: number, end: number): MessageId | undefined {
  const first = bytes[start] ?? 0;
  if (first === QUOTE) {
    const written = decodeText(bytes, start, end);
    const json = written.includes('\\') ? JSON.stringify(stringText(written)) : written;
    return { type: 'string', json };
  }
  if (first === LOWER_N) return NULL_ID;
  if (first !== MINUS && (first < ZERO || first > NINE)) return undefined;
  const json = decodeText(bytes, start, end);
  if (!isWhole(bytes, start, end)) return fractionId(Number(json));
  return { type: 'number', json: json === '-0' ? '0' : json };
}

/** Whether a number is written in digits alone: then it is kept as it is, however large. */
function isWhole(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === DOT || byte === LOWER_E || byte === UPPER_E) return false;
  }
  return true;
}

/** 1.0 and 1e2 come back as 1 and 100. */
function fractionId(value: number): MessageId | undefined {
  return Number.isFinite(value) ? { type: 'number', json: String(value) } : undefined;
}
