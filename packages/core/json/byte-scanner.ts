// One pass over the bytes of a message. It validates JSON and UTF-8 as it goes, and builds nothing.

import { NOTHING_MORE, oddByteAt } from './plain.ts';
import { asciiBytes } from './text.ts';
import {
  BACKSLASH,
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DOT,
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
  PLUS,
  QUOTE,
  SPACE,
  TAB,
  UPPER_E,
  ZERO,
} from './units.ts';
import { sequenceEnd } from './utf8-sequence.ts';

/** How deep a message may nest; the arguments of a call have a lower limit of their own. */
export const MESSAGE_DEPTH_MAX = 512;
/** From this length on, a string that nothing is decided on is searched for its end and for control characters. */
const SKIM_FROM = 48;
export const END = -1;

const WORD_TRUE = asciiBytes('true');
const WORD_FALSE = asciiBytes('false');
const WORD_NULL = asciiBytes('null');

/** 1 for bytes that may stand in a string as they are; beyond ASCII, UTF-8 has its say. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= SPACE && byte < 0x80 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
const ESCAPED = Uint8Array.from({ length: 128 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** A place in bytes: from `start` up to, not including, `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What is wrong with bytes that are no JSON, or that two readers may take for different messages. */
export type JsonReason = 'utf8' | 'json' | 'depth' | 'smuggled';

interface ScanOptions {
  /** The bytes are known to be valid UTF-8. */
  readonly skim: boolean;
}

/** `Reason` is what the caller may find wrong beyond that. */
export class Scan<Reason extends string = never> {
  readonly bytes: Uint8Array;
  readonly end: number;
  readonly skim: boolean;
  at = 0;
  /** Whether the string that was read last has an escape in it. */
  escaped = false;
  /** The first thing that was wrong. */
  reason: JsonReason | Reason | undefined;
  offset = 0;
  private view: DataView | undefined;

  constructor(bytes: Uint8Array, { skim }: ScanOptions) {
    this.bytes = bytes;
    this.end = bytes.length;
    this.skim = skim;
  }

  /** Notes what is wrong and goes on: the id may still come. */
  complain(reason: JsonReason | Reason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.offset = this.at;
  }

  /** Notes what is wrong; reading on would be guessing. */
  fail(reason: JsonReason | Reason, at: number): false {
    this.at = at;
    this.complain(reason);
    return false;
  }

  /**
   * From inside of a string, the next quote if it ends the string, the place behind it if it is escaped,
   * or -1: there is no quote, or a control character stands before it.
   */
  skimmed(from: number): number {
    const { bytes } = this;
    const quote = bytes.indexOf(QUOTE, from);
    this.view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (quote === -1 || oddByteAt(this.view, { from, until: quote }, NOTHING_MORE) < quote)
      return -1;
    let slashes = quote;
    while (slashes > from && bytes[slashes - 1] === BACKSLASH) slashes--;
    return (quote - slashes) % 2 === 0 ? quote : quote + 1;
  }

  /** Moves over white space to the next byte, and says which it is. */
  next(): number {
    const { bytes, end } = this;
    let { at } = this;
    let broken = false;
    while (at < end) {
      const byte = bytes[at] ?? 0;
      if (byte > SPACE) break;
      if (byte === CARRIAGE_RETURN) broken = true;
      else if (byte !== SPACE && byte !== LINE_FEED && byte !== TAB) break;
      at++;
    }
    const start = this.at;
    this.at = at;
    if (at >= end) return END;
    const byte = bytes[at] ?? 0;
    // A reader that ends lines at a carriage return would take what follows for its own message.
    if (broken && start > 0 && (byte === OPEN_BRACE || byte === OPEN_BRACKET)) {
      this.complain('smuggled');
    }
    return byte;
  }
}

/** Skips one value, from its first byte on. */
export function skipValue<R extends string>(scan: Scan<R>, depth: number): boolean {
  const { at, bytes, end } = scan;
  if (at >= end) return scan.fail('json', at);
  const byte = bytes[at] ?? 0;
  switch (byte) {
    case QUOTE:
      return skipString(scan);
    case OPEN_BRACE:
      return skipObject(scan, depth + 1);
    case OPEN_BRACKET:
      return skipArray(scan, depth + 1);
    case LOWER_T:
      return skipWord(scan, WORD_TRUE);
    case LOWER_F:
      return skipWord(scan, WORD_FALSE);
    case LOWER_N:
      return skipWord(scan, WORD_NULL);
    default:
      return skipNumber(scan);
  }
}

function skipObject<R extends string>(scan: Scan<R>, depth: number): boolean {
  if (depth > MESSAGE_DEPTH_MAX) return scan.fail('depth', scan.at);
  scan.at++;
  if (scan.next() === CLOSE_BRACE) return passed(scan);
  for (;;) {
    if (scan.next() !== QUOTE) return scan.fail('json', scan.at);
    if (!skipString(scan)) return false;
    if (scan.next() !== COLON) return scan.fail('json', scan.at);
    scan.at++;
    scan.next();
    if (!skipValue(scan, depth)) return false;
    const byte = scan.next();
    if (byte === CLOSE_BRACE) return passed(scan);
    if (byte !== COMMA) return scan.fail('json', scan.at);
    scan.at++;
  }
}

function skipArray<R extends string>(scan: Scan<R>, depth: number): boolean {
  if (depth > MESSAGE_DEPTH_MAX) return scan.fail('depth', scan.at);
  scan.at++;
  if (scan.next() === CLOSE_BRACKET) return passed(scan);
  for (;;) {
    scan.next();
    if (!skipValue(scan, depth)) return false;
    const byte = scan.next();
    if (byte === CLOSE_BRACKET) return passed(scan);
    if (byte !== COMMA) return scan.fail('json', scan.at);
    scan.at++;
  }
}

function passed<R extends string>(scan: Scan<R>): true {
  scan.at++;
  return true;
}

function skipWord<R extends string>(scan: Scan<R>, word: Uint8Array): boolean {
  const { bytes, at, end } = scan;
  if (at + word.length > end) return scan.fail('json', at);
  for (let index = 1; index < word.length; index++) {
    if (bytes[at + index] !== word[index]) return scan.fail('json', at);
  }
  scan.at = at + word.length;
  return true;
}

/** Skips a string from its opening quote to behind the closing one. */
function skipString<R extends string>(scan: Scan<R>): boolean {
  return scan.skim ? readString(scan, Math.min(scan.end, scan.at + SKIM_FROM)) : readString(scan);
}

/** Reads a string, every byte of it up to `readTo`; `scan.escaped` says whether it has an escape. */
export function readString<R extends string>(scan: Scan<R>, readTo = scan.end): boolean {
  const { bytes, end } = scan;
  let at = scan.at + 1;
  let until = readTo;
  scan.escaped = false;
  for (;;) {
    // Four at a time: this loop is where a message of text spends its time.
    while (at + 4 <= until && plain(bytes, at) + plain(bytes, at + 2) === 4) at += 4;
    while (at < until && PLAIN[bytes[at] ?? 0] === 1) at++;
    if (at >= until) {
      at = until >= end ? -1 : scan.skimmed(at);
      if (at < 0) return scan.fail('json', end);
      until = Math.min(end, at + SKIM_FROM);
      continue;
    }
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      scan.at = at + 1;
      return true;
    }
    if (byte === BACKSLASH) {
      at = escapeEnd(bytes, at);
      if (at === -1) return scan.fail('json', scan.at);
      scan.escaped = true;
    } else if (byte >= 0x80) {
      const next = sequenceEnd(bytes, at);
      if (next === -1) return scan.fail('utf8', at);
      at = next;
    } else {
      return scan.fail('json', at);
    }
  }
}

/** How many of two bytes are plain. */
function plain(bytes: Uint8Array, at: number): number {
  return (PLAIN[bytes[at] ?? 0] ?? 0) + (PLAIN[bytes[at + 1] ?? 0] ?? 0);
}

/** Behind an escape that starts here, or -1. */
function escapeEnd(bytes: Uint8Array, at: number): number {
  const kind = bytes[at + 1] ?? 0;
  if (kind !== LOWER_U) return kind < 0x80 && ESCAPED[kind] === 1 ? at + 2 : -1;
  for (let index = at + 2; index < at + 6; index++) {
    if (!isHex(bytes[index] ?? 0)) return -1;
  }
  return at + 6;
}

function isHex(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function skipNumber<R extends string>(scan: Scan<R>): boolean {
  const { bytes } = scan;
  let at = scan.at;
  if (bytes[at] === MINUS) at++;
  const first = bytes[at] ?? 0;
  if (!isDigit(first)) {
    const broken = first >= 0x80 && sequenceEnd(bytes, at) === -1;
    return scan.fail(broken ? 'utf8' : 'json', at);
  }
  at = first === ZERO ? at + 1 : digitsEnd(bytes, at);
  if (bytes[at] === DOT) {
    if (!isDigit(bytes[at + 1] ?? 0)) return scan.fail('json', at);
    at = digitsEnd(bytes, at + 1);
  }
  const exponent = bytes[at];
  if (exponent === LOWER_E || exponent === UPPER_E) {
    const sign = bytes[at + 1];
    const digits = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
    if (!isDigit(bytes[digits] ?? 0)) return scan.fail('json', at);
    at = digitsEnd(bytes, digits);
  }
  scan.at = at;
  return true;
}

function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at] ?? 0)) at++;
  return at;
}
