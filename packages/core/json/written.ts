// Whether arguments stand in their canonical form already, seen from their bytes alone. Most
// clients write them so: then there is no text to decode and none to build before it is hashed.
import { PLAIN_INTEGER_DIGITS_MAX, PLAIN_LEADING_ZEROS_MAX } from './decimal.ts';
import { arePlain } from './plain.ts';
import { DEPTH_MAX } from './scan.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DOT,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  MINUS,
  NINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  UPPER_E,
  ZERO,
} from './units.ts';

const SHORT_ESCAPE = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
/** Places in the list of keys; objects with more are compared by their text, which does not take squares. */
const PAIRS_MAX = 32;

/** Reads on as long as all is canonical; each method gives false when it is not, or may not be. */
class Written {
  at: number;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #end: number;
  #escaped = false;
  /** Where the keys of the objects at hand start and end, the innermost last. */
  readonly #keys: number[] = [];

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = start;
    this.#end = end;
  }

  value(depth: number): boolean {
    switch (this.#byte(this.at)) {
      case QUOTE:
        return this.#string();
      case OPEN_BRACE:
        return this.object(depth + 1);
      case OPEN_BRACKET:
        return this.#array(depth + 1);
      case LOWER_T:
        return this.#word('true');
      case LOWER_F:
        return this.#word('false');
      case LOWER_N:
        return this.#word('null');
      default:
        return this.#number();
    }
  }

  object(depth: number): boolean {
    if (depth > DEPTH_MAX) return false;
    this.at++;
    if (this.#byte(this.at) === CLOSE_BRACE) return this.#passed();
    let keyStart = -1;
    let keyEnd = -1;
    const first = this.#keys.length;
    for (;;) {
      const start = this.at;
      // An escaped key is compared by what it stands for, which takes its text.
      if (this.#byte(start) !== QUOTE || !this.#string() || this.#escaped) return false;
      const end = this.at;
      if (keyStart !== -1 && !this.#isBefore({ keyStart, keyEnd }, start, end)) return false;
      keyStart = start;
      keyEnd = end;
      this.#keys.push(start, end);
      if (this.#byte(this.at) !== COLON) return false;
      this.at++;
      if (!this.value(depth)) return false;
      const byte = this.#byte(this.at);
      if (byte === CLOSE_BRACE) return this.#differ(first) && this.#passed();
      if (byte !== COMMA) return false;
      this.at++;
    }
  }

  /** Whether the keys from here on differ in more than case; the last object is over. */
  #differ(first: number): boolean {
    const keys = this.#keys;
    const last = keys.length - 2;
    // In byte order upper case comes first, so of two that fold together the first one has it.
    for (let one = first; one < last; one += 2) {
      const kind = this.#kindOf(keys[one] ?? 0, keys[one + 1] ?? 0);
      if (kind === 'other' || (kind === 'upper' && last - first > PAIRS_MAX)) return false;
      if (kind === 'lower') continue;
      for (let other = one + 2; other <= last; other += 2) if (this.#fold(one, other)) return false;
    }
    if (last > first && this.#kindOf(keys[last] ?? 0, keys[last + 1] ?? 0) === 'other')
      return false;
    keys.length = first;
    return true;
  }

  /** What must be looked at in a key: `other` has letters beyond ASCII. */
  #kindOf(start: number, end: number): 'lower' | 'upper' | 'other' {
    let kind: 'lower' | 'upper' = 'lower';
    for (let at = start; at < end; at++) {
      const byte = this.#byte(at);
      if (byte >= 0x80) return 'other';
      if (byte >= UPPER_A && byte <= UPPER_Z) kind = 'upper';
    }
    return kind;
  }

  /** Whether two keys, which are ASCII as far as that matters, differ only in case. */
  #fold(one: number, other: number): boolean {
    const start = this.#keys[one] ?? 0;
    const length = (this.#keys[one + 1] ?? 0) - start;
    const from = this.#keys[other] ?? 0;
    if ((this.#keys[other + 1] ?? 0) - from !== length) return false;
    for (let index = 0; index < length; index++) {
      if (lowered(this.#byte(start + index)) !== lowered(this.#byte(from + index))) return false;
    }
    return true;
  }

  #array(depth: number): boolean {
    if (depth > DEPTH_MAX) return false;
    this.at++;
    if (this.#byte(this.at) === CLOSE_BRACKET) return this.#passed();
    for (;;) {
      if (!this.value(depth)) return false;
      const byte = this.#byte(this.at);
      if (byte === CLOSE_BRACKET) return this.#passed();
      if (byte !== COMMA) return false;
      this.at++;
    }
  }

  #string(): boolean {
    const view = this.#view;
    const lastFour = this.#end - 4;
    let at = this.at + 1;
    this.#escaped = false;
    for (;;) {
      // Four at a time: this loop is where a message of text spends its time.
      while (at <= lastFour && arePlain(view.getInt32(at, true))) at += 4;
      let byte = this.#byte(at);
      while (byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH) byte = this.#byte(++at);
      if (byte === QUOTE) {
        this.at = at + 1;
        return true;
      }
      if (byte !== BACKSLASH || SHORT_ESCAPE[this.#byte(at + 1)] !== 1) return false;
      this.#escaped = true;
      at += 2;
    }
  }

  #number(): boolean {
    const start = this.at;
    const integer = this.#byte(start) === MINUS ? start + 1 : start;
    let at = this.#digitsEnd(integer);
    const isZero = this.#byte(integer) === ZERO;
    if (at === integer || at - integer > PLAIN_INTEGER_DIGITS_MAX) return false;
    if (isZero && at > integer + 1) return false;
    if (this.#byte(at) === DOT) {
      const fraction = at + 1;
      at = this.#digitsEnd(fraction);
      if (at === fraction || this.#byte(at - 1) === ZERO) return false;
      if (isZero && this.#isSmall(fraction)) return false;
    } else if (isZero && integer !== start) {
      return false;
    }
    const byte = this.#byte(at);
    this.at = at;
    return byte !== LOWER_E && byte !== UPPER_E;
  }

  /** Whether a fraction below one begins with more zeros than are written out. */
  #isSmall(fraction: number): boolean {
    let at = fraction;
    while (this.#byte(at) === ZERO) at++;
    return at - fraction > PLAIN_LEADING_ZEROS_MAX;
  }

  #digitsEnd(from: number): number {
    let at = from;
    for (;;) {
      const byte = this.#byte(at);
      if (byte < ZERO || byte > NINE) return at;
      at++;
    }
  }

  #word(word: string): boolean {
    for (let index = 0; index < word.length; index++) {
      if (this.#byte(this.at + index) !== word.charCodeAt(index)) return false;
    }
    this.at += word.length;
    return true;
  }

  /** Whether the key before sorts before this one: in UTF-8, bytes sort as code points do. */
  #isBefore(before: { keyStart: number; keyEnd: number }, start: number, end: number): boolean {
    const bytes = this.#bytes;
    const shared = Math.min(before.keyEnd - before.keyStart, end - start) - 1;
    for (let index = 1; index < shared; index++) {
      const difference = (bytes[before.keyStart + index] ?? 0) - (bytes[start + index] ?? 0);
      if (difference !== 0) return difference < 0;
    }
    return before.keyEnd - before.keyStart < end - start;
  }

  #byte(at: number): number {
    return at < this.#end ? (this.#bytes[at] ?? 0) : 0;
  }

  #passed(): true {
    this.at++;
    return true;
  }
}

function lowered(byte: number): number {
  return byte >= UPPER_A && byte <= UPPER_Z ? byte | 0x20 : byte;
}

/**
 * True only if these bytes, which must be valid UTF-8, are a JSON object in canonical form without two
 * keys that differ only in case. What
 * is rare, such as an escaped key or one beyond ASCII, gives false even where it is canonical: its text will tell.
 */
export function isCanonicalObject(bytes: Uint8Array, start: number, end: number): boolean {
  if (start >= end || bytes[start] !== OPEN_BRACE) return false;
  const written = new Written(bytes, start, end);
  return written.object(1) && written.at === end;
}
