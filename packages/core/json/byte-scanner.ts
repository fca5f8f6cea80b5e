// The one walker over the bytes of JSON. It validates JSON and UTF-8 in one pass and builds nothing;
// where it is asked to, the same pass finds out whether a value is written in its canonical form.
import { OpenKeys } from './open-keys.ts';
import { arePlain, BEYOND_ASCII, NOTHING_MORE, oddByteAt } from './plain-bytes.ts';
import { asciiBytes, sequenceEnd } from './text.ts';
import {
  BACKSLASH,
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DEPTH_MAX,
  DOT,
  END,
  ESCAPES,
  LINE_FEED,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  LOWER_U,
  MINUS,
  NINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLAIN_INTEGER_DIGITS_MAX,
  PLAIN_LEADING_ZEROS_MAX,
  PLUS,
  QUOTE,
  SPACE,
  TAB,
  UPPER_E,
  ZERO,
} from './units.ts';

/** A place in bytes: from `start` up to, not including, `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Why bytes are not JSON, or are JSON that another reader may take for two messages. */
export type JsonReason = 'utf8' | 'json' | 'depth' | 'smuggled';

/** How deep a message may nest; the arguments of a call have a lower limit of their own. */
export const MESSAGE_DEPTH_MAX = 512;
/** A longer string whose text is not needed is only searched for its end and for control characters. */
const SKIM_FROM = 48;
/** Most strings are shorter than this; reading several bytes at a time does not pay for them. */
const SHORT = 16;

const WORD_TRUE = asciiBytes('true');
const WORD_FALSE = asciiBytes('false');
const WORD_NULL = asciiBytes('null');

/** 1 for bytes that may stand in a string as they are; those beyond ASCII only in valid UTF-8. */
const PLAIN_UTF8 = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
const PLAIN_ASCII = PLAIN_UTF8.map((plain, byte) => (byte < 0x80 ? plain : 0));

/** Shared by all scanners: no two of them check canonical form at the same time. */
const KEYS = new OpenKeys();

/** `Reason` names the faults that the caller may find in valid JSON. */
export class ByteScanner<Reason extends string = never> {
  readonly bytes: Uint8Array;
  readonly end: number;
  at = 0;
  /** Whether the string that was read last has an escape in it. */
  escaped = false;
  /** The first fault, and where it is. */
  reason: JsonReason | Reason | undefined;
  offset = 0;
  private view: DataView | undefined;
  private readonly isUtf8: boolean;
  /** Whether everything is canonical so far; false also outside of `skipCanonical`. */
  private isCanonical = false;
  private canonicalDepthMax = 0;

  /** With `isUtf8`, the bytes are known to be valid UTF-8: long strings are then read faster. */
  constructor(bytes: Uint8Array, isUtf8: boolean) {
    this.bytes = bytes;
    this.end = bytes.length;
    this.isUtf8 = isUtf8;
  }

  /** Notes a fault and reads on: the id of the message may still come. */
  complain(reason: JsonReason | Reason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.offset = this.at;
  }

  /** Notes a fault and stops: reading on would be guessing. */
  fail(reason: JsonReason | Reason, at: number): false {
    this.at = at;
    this.complain(reason);
    return false;
  }

  /** Moves over white space to the next byte and returns it. */
  next(): number {
    const { bytes, end } = this;
    const start = this.at;
    let at = start;
    let broken = false;
    let byte = END;
    for (; at < end; at++) {
      byte = bytes[at] ?? 0;
      if (byte > SPACE) break;
      if (byte === CARRIAGE_RETURN) broken = true;
      else if (byte !== SPACE && byte !== LINE_FEED && byte !== TAB) break;
    }
    if (at === start) return at < end ? byte : END;
    this.at = at;
    this.isCanonical = false;
    if (at >= end) return END;
    // A reader that ends lines at a carriage return would take the rest for another message.
    if (broken && start > 0 && (byte === OPEN_BRACE || byte === OPEN_BRACKET)) {
      this.complain('smuggled');
    }
    return byte;
  }

  /** Moves behind the byte at hand. */
  pass(): true {
    this.at++;
    return true;
  }

  /** Moves behind a comma; anything else is a fault. */
  passComma(byte: number): boolean {
    return byte === COMMA ? this.pass() : this.fail('json', this.at);
  }

  /** Moves over the colon behind a key to the value. */
  passColon(): boolean {
    if (this.next() !== COLON) return this.fail('json', this.at);
    this.at++;
    this.next();
    return true;
  }

  /** Reads a key and returns where it starts, or -1. */
  readKey(): number {
    if (this.next() !== QUOTE) {
      this.fail('json', this.at);
      return -1;
    }
    const start = this.at;
    return this.readString() ? start : -1;
  }

  /** Skips one value, from its first byte on. */
  skipValue(depth: number): boolean {
    const { at } = this;
    if (at >= this.end) return this.fail('json', at);
    switch (this.bytes[at]) {
      case QUOTE:
        return this.skipString();
      case OPEN_BRACE:
        return this.skipObject(depth + 1);
      case OPEN_BRACKET:
        return this.skipArray(depth + 1);
      case LOWER_T:
        return this.skipWord(WORD_TRUE);
      case LOWER_F:
        return this.skipWord(WORD_FALSE);
      case LOWER_N:
        return this.skipWord(WORD_NULL);
      default:
        return this.skipNumber();
    }
  }

  /**
   * Skips one value. Returns `canonical` only for an object in canonical form, without two keys that
   * differ only in case. Rare things, such as an escaped key or one beyond ASCII, give `valid` even
   * where they are canonical: the reader of the text finds out.
   */
  skipCanonical(depth: number): 'canonical' | 'valid' | undefined {
    this.isCanonical = this.bytes[this.at] === OPEN_BRACE;
    this.canonicalDepthMax = depth + DEPTH_MAX;
    KEYS.count = 0;
    const isRead = this.skipValue(depth);
    const { isCanonical } = this;
    this.isCanonical = false;
    if (!isRead) return undefined;
    return isCanonical ? 'canonical' : 'valid';
  }

  private skipObject(depth: number): boolean {
    if (!this.enter(depth)) return false;
    if (this.next() === CLOSE_BRACE) return this.pass();
    const firstKey = KEYS.count;
    for (;;) {
      if (this.next() !== QUOTE) return this.fail('json', this.at);
      const start = this.at;
      if (!this.skipString()) return false;
      // An escaped key is compared by its text, which its bytes do not show.
      if (this.isCanonical) {
        this.isCanonical = !this.escaped && KEYS.add(this.bytes, firstKey, { start, end: this.at });
      }
      if (!this.passColon() || !this.skipValue(depth)) return false;
      const byte = this.next();
      if (byte === CLOSE_BRACE) {
        if (this.isCanonical) this.isCanonical = KEYS.close(this.bytes, firstKey);
        return this.pass();
      }
      if (!this.passComma(byte)) return false;
    }
  }

  private skipArray(depth: number): boolean {
    if (!this.enter(depth)) return false;
    if (this.next() === CLOSE_BRACKET) return this.pass();
    for (;;) {
      this.next();
      if (!this.skipValue(depth)) return false;
      const byte = this.next();
      if (byte === CLOSE_BRACKET) return this.pass();
      if (!this.passComma(byte)) return false;
    }
  }

  /** Moves behind an opening bracket, unless it nests too deeply. */
  private enter(depth: number): boolean {
    if (depth > MESSAGE_DEPTH_MAX) return this.fail('depth', this.at);
    if (depth > this.canonicalDepthMax) this.isCanonical = false;
    return this.pass();
  }

  private skipWord(word: Uint8Array): boolean {
    const { bytes, at } = this;
    for (let index = 1; index < word.length; index++) {
      if (bytes[at + index] !== word[index]) return this.fail('json', at);
    }
    this.at = at + word.length;
    return true;
  }

  /** Skips a string whose text is not needed; `escaped` is not always set. */
  private skipString(): boolean {
    const isSkimmed = this.isUtf8 && !this.isCanonical;
    return this.readString(isSkimmed ? Math.min(this.end, this.at + SKIM_FROM) : this.end);
  }

  /** Reads a string from its opening quote, every byte of it up to `readTo`. */
  readString(readTo = this.end): boolean {
    const { bytes, end } = this;
    const plain = this.isUtf8 ? PLAIN_UTF8 : PLAIN_ASCII;
    let at = this.at + 1;
    let until = readTo;
    this.escaped = false;
    for (;;) {
      const shortEnd = Math.min(until, at + SHORT);
      while (at < shortEnd && plain[bytes[at] ?? 0] === 1) at++;
      if (at === shortEnd && at < until) at = this.plainEnd(at, until);
      if (at >= until) {
        at = until >= end ? -1 : this.skimmed(at);
        if (at < 0) return this.fail('json', end);
        until = Math.min(end, at + SKIM_FROM);
        continue;
      }
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.at = at + 1;
        return true;
      }
      if (byte === BACKSLASH) {
        at = this.escapeEnd(at);
        if (at === -1) return this.fail('json', this.at);
        this.escaped = true;
      } else if (byte >= 0x80) {
        const next = sequenceEnd(bytes, at);
        if (next === -1) return this.fail('utf8', at);
        at = next;
      } else {
        return this.fail('json', at);
      }
    }
  }

  /** Where the bytes that may stand in a string as they are end. */
  private plainEnd(from: number, until: number): number {
    const { bytes } = this;
    const plain = this.isUtf8 ? PLAIN_UTF8 : PLAIN_ASCII;
    const more = this.isUtf8 ? NOTHING_MORE : BEYOND_ASCII;
    this.view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const { view } = this;
    let at = from;
    // Four at a time: this loop is where a message of text spends its time.
    while (at + 4 <= until && arePlain(view.getInt32(at, true), more)) at += 4;
    while (at < until && plain[bytes[at] ?? 0] === 1) at++;
    return at;
  }

  /**
   * From inside of a string, the next quote if it ends the string, the place behind it if it is escaped,
   * or -1: there is no quote, or a control character stands before it.
   */
  private skimmed(from: number): number {
    const { bytes } = this;
    const quote = bytes.indexOf(QUOTE, from);
    this.view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (quote === -1 || oddByteAt(this.view, { from, until: quote }, NOTHING_MORE) < quote)
      return -1;
    let slashes = quote;
    while (slashes > from && bytes[slashes - 1] === BACKSLASH) slashes--;
    return (quote - slashes) % 2 === 0 ? quote : quote + 1;
  }

  /** Behind the escape that starts here, or -1. */
  private escapeEnd(at: number): number {
    const { bytes } = this;
    const kind = bytes[at + 1] ?? 0;
    const escape = ESCAPES[kind];
    if (escape !== 2) this.isCanonical = false;
    if (kind !== LOWER_U) return escape === 0 ? -1 : at + 2;
    for (let index = at + 2; index < at + 6; index++) if (!isHex(bytes[index] ?? 0)) return -1;
    return at + 6;
  }

  private skipNumber(): boolean {
    const { bytes, at: start } = this;
    const integer = bytes[start] === MINUS ? start + 1 : start;
    const first = bytes[integer] ?? 0;
    if (!isDigit(first)) {
      const isBroken = first >= 0x80 && sequenceEnd(bytes, integer) === -1;
      return this.fail(isBroken ? 'utf8' : 'json', integer);
    }
    let at = first === ZERO ? integer + 1 : digitsEnd(bytes, integer);
    let isCanonical = at - integer <= PLAIN_INTEGER_DIGITS_MAX;
    if (bytes[at] === DOT) {
      const fraction = at + 1;
      if (!isDigit(bytes[fraction] ?? 0)) return this.fail('json', at);
      at = digitsEnd(bytes, fraction);
      if (bytes[at - 1] === ZERO || (first === ZERO && isSmall(bytes, fraction))) {
        isCanonical = false;
      }
    } else if (first === ZERO && integer !== start) {
      isCanonical = false;
    }
    const exponent = bytes[at];
    if (exponent === LOWER_E || exponent === UPPER_E) {
      isCanonical = false;
      const sign = bytes[at + 1];
      const digits = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
      if (!isDigit(bytes[digits] ?? 0)) return this.fail('json', at);
      at = digitsEnd(bytes, digits);
    }
    if (!isCanonical) this.isCanonical = false;
    this.at = at;
    return true;
  }
}

export function isHex(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}

export function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at] ?? 0)) at++;
  return at;
}

/** Whether a fraction below one begins with more zeros than canonical JSON writes out. */
function isSmall(bytes: Uint8Array, fraction: number): boolean {
  let at = fraction;
  while (bytes[at] === ZERO) at++;
  return at - fraction > PLAIN_LEADING_ZEROS_MAX;
}
