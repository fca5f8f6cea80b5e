// Base64 and hex to text, without the platform's decoders; nothing where the bytes are no text.

type Encoding = 'base64' | 'hex';

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const NO_VALUE = 255;
/** Fewer bytes hold nothing worth hiding, and more of them are text by chance. */
const BYTES_MIN = 10;
const HEX_RUN = /^(?:0x)?[0-9A-Fa-f\s]+$/;
const BASE64_RUN = /^[\w+/\s-]+={0,2}$/;

function valuesOf(): Uint8Array {
  const values = new Uint8Array(128).fill(NO_VALUE);
  for (let at = 0; at < BASE64.length; at++) values[BASE64.charCodeAt(at)] = at;
  values[0x2d] = 62;
  values[0x5f] = 63;
  return values;
}

const VALUES = valuesOf();

/** Which encodings a run may be. */
export function hasBytesOf(run: string): { readonly base64: boolean; readonly hex: boolean } {
  return {
    hex: HEX_RUN.test(run) && run.length >= 2 * BYTES_MIN,
    // Words of one case are names and paths; base64 of text has both.
    base64: /[a-z]/.test(run) && /[A-Z0-9]/.test(run) && BASE64_RUN.test(run),
  };
}

export function textOfBytes(run: string, encoding: Encoding): string | undefined {
  const bytes = encoding === 'hex' ? hexBytes(run) : base64Bytes(run);
  return bytes === undefined || bytes.length < BYTES_MIN ? undefined : utf8Text(bytes);
}

function hexBytes(run: string): readonly number[] | undefined {
  const bytes: number[] = [];
  let high = -1;
  for (let at = run.startsWith('0x') ? 2 : 0; at < run.length; at++) {
    const digit = Number.parseInt(run[at] ?? '', 16);
    if (Number.isNaN(digit)) continue;
    if (high < 0) high = digit;
    else {
      if (!isLikely(bytes, high * 16 + digit)) return undefined;
      high = -1;
    }
  }
  return bytes;
}

function base64Bytes(run: string): readonly number[] | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (let at = 0; at < run.length; at++) {
    const value = VALUES[run.charCodeAt(at)] ?? NO_VALUE;
    if (value === NO_VALUE) continue;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    if (!isLikely(bytes, (held >> bits) & 0xff)) return undefined;
  }
  return bytes;
}

/** Adds a byte; a control that no text has ends the attempt, so that files cost little. */
function isLikely(bytes: number[], byte: number): boolean {
  bytes.push(byte);
  return (
    (byte >= 0x20 && byte !== 0x7f) ||
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x09 ||
    byte === 0x1b
  );
}

/** The text, when all of it is well-formed and most of it is ASCII. */
function utf8Text(bytes: readonly number[]): string | undefined {
  const out: string[] = [];
  let ascii = 0;
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0;
    if (first < 0x80) {
      out.push(String.fromCharCode(first));
      ascii++;
      at++;
      continue;
    }
    const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    // A run may be cut in the middle of a character.
    if (at + size > bytes.length) break;
    const point = pointAt(bytes, at, size);
    if (point === undefined) return undefined;
    out.push(String.fromCodePoint(point));
    at += size;
  }
  return ascii * 4 >= bytes.length || out.length * 2 >= bytes.length ? out.join('') : undefined;
}

function pointAt(bytes: readonly number[], at: number, size: number): number | undefined {
  const first = bytes[at] ?? 0;
  if (first < 0xc2 || first > 0xf4) return undefined;
  let point = first & (0xff >> (size + 1));
  for (let next = 1; next < size; next++) {
    const byte = bytes[at + next] ?? 0;
    if ((byte & 0xc0) !== 0x80) return undefined;
    point = (point << 6) | (byte & 0x3f);
  }
  return point > 0x10_ffff || (point >= 0xd800 && point <= 0xdfff) ? undefined : point;
}
