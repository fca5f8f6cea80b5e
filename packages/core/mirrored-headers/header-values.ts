// Values of the headers that mirror a request (MCP 2026-07-28). A value that a header can't carry as it is
// travels as the Base64 of its UTF-8 between two markers.
import { utf8Of } from '../json/patch-text.ts';
import { decodeUtf8 } from '../json/text.ts';

const PREFIX = '=?base64?';
const SUFFIX = '?=';
/** Without tabs: a tab may stand in a header, but some readers take it for a control. */
const PLAIN = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;
/** What may stand in a header at all. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;
const LONE_SURROGATE = /\p{Surrogate}/gu;
const EDGES = /^[ \t]+|[ \t]+$/g;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES: ReadonlyMap<string, number> = new Map(
  Array.from(DIGITS, (digit, value) => [digit, value]),
);

/** Whether a value needs no encoding. */
export function isPlainValue(value: string): boolean {
  return PLAIN.test(value) && !isEncoded(value);
}

/** The value as it stands in a header; safe for every text. */
export function encodeHeaderValue(value: string): string {
  if (isPlainValue(value)) return value;
  return `${PREFIX}${base64(utf8Of(value.replace(LONE_SURROGATE, '\ufffd')))}${SUFFIX}`;
}

/**
 * The value that a header carries; undefined when it is malformed. Each text has one Base64 only: padding
 * is complete and spare bits are zero, so two readers can't take it for two texts.
 */
export function decodeHeaderValue(written: string): string | undefined {
  const value = trimmed(written);
  if (!FIELD_VALUE.test(value)) return undefined;
  if (!isEncoded(value)) return value;
  const encoded = value.slice(PREFIX.length, -SUFFIX.length);
  if (!BASE64.test(encoded)) return undefined;
  const bytes = bytesOf(encoded);
  const decoded = decodeUtf8(bytes);
  return decoded.ok && base64(bytes) === encoded ? decoded.text : undefined;
}

/** The blanks around a value are not part of it. */
export function trimmed(written: string): string {
  return written.replace(EDGES, '');
}

function isEncoded(value: string): boolean {
  const length = PREFIX.length + SUFFIX.length;
  return value.length >= length && value.startsWith(PREFIX) && value.endsWith(SUFFIX);
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
    const group = (first << 16) | (second << 8) | third;
    for (const shift of [18, 12, 6, 0]) text += DIGITS[(group >> shift) & 63];
  }
  const padding = (3 - (bytes.length % 3)) % 3;
  return text.slice(0, text.length - padding) + '='.repeat(padding);
}

function bytesOf(encoded: string): Uint8Array {
  const padding = encoded.endsWith('==') ? 2 : encoded.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((encoded.length / 4) * 3);
  for (let at = 0; at < encoded.length; at += 4) {
    let group = 0;
    for (const digit of encoded.slice(at, at + 4)) group = (group << 6) | (VALUES.get(digit) ?? 0);
    bytes.set([group >> 16, (group >> 8) & 255, group & 255], (at / 4) * 3);
  }
  return bytes.subarray(0, bytes.length - padding);
}
