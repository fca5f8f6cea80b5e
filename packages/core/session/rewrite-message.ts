// A message with one of its values replaced. Everything else stays as it was written, byte by byte.
import { patchJsonText } from '../json/patch-text.ts';
import type { Range } from './peek/types.ts';

/** The JSON of a value; undefined when it has none. */
function jsonOf(value: unknown): string | undefined {
  try {
    const text: unknown = JSON.stringify(value);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The JSON of a value that came from this text and was changed since: what has not changed stays as it
 * was written. Undefined when the value has no JSON, and never where it has.
 */
export function rewritten(text: string, changed: unknown): string | undefined {
  try {
    return patchJsonText(text, changed) ?? jsonOf(changed);
  } catch {
    return jsonOf(changed);
  }
}

/** The bytes with this text in place of what stands there. */
export function spliced(bytes: Uint8Array, { start, end }: Range, text: string): Uint8Array {
  const middle = utf8Of(text);
  const whole = new Uint8Array(bytes.length - (end - start) + middle.length);
  whole.set(bytes.subarray(0, start));
  whole.set(middle, start);
  whole.set(bytes.subarray(end), start + middle.length);
  return whole;
}

/** UTF-8 of JSON that was decoded or that `JSON.stringify` wrote: neither leaves a lone surrogate. */
function utf8Of(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let used = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) {
      bytes[used++] = unit;
      continue;
    }
    const point = text.codePointAt(at) ?? 0;
    if (point >= 0x1_00_00) at++;
    used = putPoint(bytes, used, point);
  }
  return bytes.subarray(0, used);
}

/** Writes one character beyond ASCII, and says where the next one goes. */
function putPoint(bytes: Uint8Array, at: number, point: number): number {
  let used = at;
  if (point < 0x8_00) bytes[used++] = 0xc0 | (point >> 6);
  else {
    if (point < 0x1_00_00) bytes[used++] = 0xe0 | (point >> 12);
    else {
      bytes[used++] = 0xf0 | (point >> 18);
      bytes[used++] = 0x80 | ((point >> 12) & 0x3f);
    }
    bytes[used++] = 0x80 | ((point >> 6) & 0x3f);
  }
  bytes[used++] = 0x80 | (point & 0x3f);
  return used;
}
