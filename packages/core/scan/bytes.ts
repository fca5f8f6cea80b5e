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
export const BASE64: Base = {
  alphabet: unitsIn(`${BASE64_DIGITS}+/`),
  bits: 6,
  offsets: [0, 1, 2],
};
export const BASE64_URL: Base = { ...BASE64, alphabet: unitsIn(`${BASE64_DIGITS}-_`) };
export const BASE32: Base = {
  alphabet: unitsIn(`${LETTERS}234567`),
  bits: 5,
  offsets: [0, 1, 2, 3, 4],
};

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

export function utf8(text: string): Units {
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

export function utf16(text: string, order: 'little' | 'big'): Units {
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
export function digitsOf({ units: bytes, originOf }: Units, base: Base, offset: number): Units {
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
export function written({ units: bytes, originOf }: Units, write: (byte: number) => string): Units {
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

export function textOf({ units }: Units): string {
  return Array.from(units, (unit) => String.fromCharCode(unit)).join('');
}

export const hexOf = (number: number, width: number) => number.toString(16).padStart(width, '0');
