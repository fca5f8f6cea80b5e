// Made-up secrets, put together from parts at run time: no whole one stands in any file.

const MIXED = 'aB3dE5gH7jK9mN1pQ2sT4vW6yZ8xC0fR';
const LOWER = 'k3v9x1q7z5b2n8m4w6c0h';
const UPPER = 'A7B3C5D2E6F4G9H2J8K1';
const DIGITS = '8305927461';
const HEX = '0a9b8c7d6e5f4321fedc';

const row = (chars: string, length: number) =>
  chars.repeat(Math.ceil(length / chars.length)).slice(0, length);

export const mixed = (length: number) => row(MIXED, length);
export const lower = (length: number) => row(LOWER, length);
export const upper = (length: number) => row(UPPER, length);
export const digits = (length: number) => row(DIGITS, length);
export const hex = (length: number) => row(HEX, length);
export const join = (...parts: readonly string[]) => parts.join('');

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 of ASCII text. */
export function base64(text: string): string {
  let out = '';
  for (let at = 0; at < text.length; at += 3) {
    const [a = 0, b = 0, c = 0] = [0, 1, 2].map((next) => text.charCodeAt(at + next) || 0);
    const bits = (a << 16) | (b << 8) | c;
    const chars = [18, 12, 6, 0].map((shift) => BASE64[(bits >> shift) & 63] ?? '');
    const pad = Math.max(0, at + 3 - text.length);
    out += chars.slice(0, 4 - pad).join('') + '='.repeat(pad);
  }
  return out;
}

export const hexOf = (text: string) =>
  Array.from(text, (char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join('');
export const percentOf = (text: string) =>
  Array.from(text, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
export const unicodeOf = (text: string) =>
  Array.from(text, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
export const entitiesOf = (text: string) =>
  Array.from(text, (char) => `&#${char.charCodeAt(0)};`).join('');
export const tagsOf = (text: string) =>
  Array.from(text, (char) => String.fromCodePoint(0xe_0000 + char.charCodeAt(0))).join('');
export const fullWidth = (text: string) =>
  Array.from(text, (char) => {
    const unit = char.charCodeAt(0);
    return unit > 0x20 && unit < 0x7f ? String.fromCharCode(unit + 0xfee0) : char;
  }).join('');
export const woven = (text: string, sign: string) => Array.from(text).join(sign);
