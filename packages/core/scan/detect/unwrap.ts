// What was wrapped so that a reader won't see it and a model will: escapes, base64, hex, letters set
// apart. Each is undone once.
import { readEscape, unescapeOnce } from '../text/escapes.ts';
import { Tracer } from '../text/traced-text.ts';
import type { Range } from '../types.ts';
import type { TextSurvey } from './survey.ts';
import type { View } from './types.ts';

export interface Unwrapped {
  readonly views: readonly View[];
  /** Units of long runs that decode to no text. */
  readonly binaryUnits: number;
  /** Units that were left wrapped, being too many. */
  readonly skippedUnits: number;
}

const BLOB_DECODED_MAX = 1 << 16;
const BLOBS_MAX = 2_000;
/** Shorter runs that are no text are ids and hashes; longer ones are files. */
const BINARY_MIN = 512;
const INTRODUCER = /[\\%&]/g;
/** About the length of the longest pattern. */
const ISLAND = 300;
const PART = /[A-Za-z0-9+_-]{20,}={0,2}/g;

const NOT_WRAPPED: Unwrapped = { views: [], binaryUnits: 0, skippedUnits: 0 };

export function unwrap(text: string, seen: TextSurvey): Unwrapped {
  if (!seen.hasEscapes && seen.spaced.length + seen.blobs.length === 0) return NOT_WRAPPED;
  const views: View[] = [];
  if (seen.hasEscapes) {
    for (const island of islandsOf(text)) {
      const view = unescapedIn(text, island);
      if (view !== undefined) views.push(view);
    }
  }
  for (const range of seen.spaced) views.push(closedUp(text, range));
  const blobs = joinedLines(text, seen.blobs);
  let binaryUnits = 0;
  let skippedUnits = 0;
  for (const [index, range] of blobs.entries()) {
    const units = range.end - range.start;
    if (index >= BLOBS_MAX) skippedUnits += units;
    else {
      const decoded = decodedIn(text, range);
      views.push(...decoded);
      if (decoded.length === 0 && units >= BINARY_MIN) binaryUnits += units;
      else skippedUnits += Math.max(0, units - BLOB_DECODED_MAX);
    }
  }
  return { views, binaryUnits, skippedUnits };
}

/** The surroundings of all escapes: what is far from any of them was seen already. */
function islandsOf(text: string): Range[] {
  const islands: Range[] = [];
  INTRODUCER.lastIndex = 0;
  for (let found = INTRODUCER.exec(text); found !== null; found = INTRODUCER.exec(text)) {
    const escape = hides(text, found.index) ? readEscape(text, found.index) : undefined;
    if (escape === undefined) continue;
    INTRODUCER.lastIndex = escape.end;
    const start = Math.max(0, found.index - ISLAND);
    const end = Math.min(text.length, escape.end + ISLAND);
    const last = islands.at(-1);
    if (last === undefined || start > last.end) islands.push({ start, end });
    else islands[islands.length - 1] = { start: last.start, end };
  }
  return islands;
}

/** Quotes, slashes and ampersands are escaped all over and hide nothing. */
function hides(text: string, at: number): boolean {
  const next = text[at + 1] ?? '';
  if (text[at] === '\\')
    return /[uUx0-7]/.test(next) || (/[nrt]/.test(next) && /[\w<[]/.test(text[at + 2] ?? ''));
  return text[at] === '%' || !text.startsWith('&amp;', at);
}

function unescapedIn(text: string, { start, end }: Range): View | undefined {
  const plain = unescapeOnce({ text: text.slice(start, end), truncated: false });
  if (plain === undefined) return undefined;
  const toSource = (range: Range) => {
    const source = plain.toSource(range);
    return { start: start + source.start, end: start + source.end };
  };
  return { text: plain.text, toSource, isWrapped: (range) => isEncoded(range, toSource(range)) };
}

const always = () => true;

/** A quote or a line end is escaped by every writer of JSON; half of the letters are not. */
function isEncoded(range: Range, source: Range): boolean {
  return 2 * (source.end - source.start) > 3 * (range.end - range.start);
}

/** The run as a whole or, where that is nothing, the parts of a path or a query. */
function decodedIn(text: string, range: Range): View[] {
  const whole = decode(text, range);
  if (whole !== undefined) return [{ text: whole, toSource: () => range, isWrapped: always }];
  const run = text.slice(range.start, Math.min(range.end, range.start + BLOB_DECODED_MAX));
  const views: View[] = [];
  for (const part of run.matchAll(PART)) {
    const start = range.start + part.index;
    const place = { start, end: start + part[0].length };
    const plain = part[0].length === run.length ? undefined : decode(text, place);
    if (plain !== undefined) views.push({ text: plain, toSource: () => place, isWrapped: always });
  }
  return views;
}

/** Letters that stood apart, closed up; two spaces are one between words. */
function closedUp(text: string, { start, end }: Range): View {
  const tracer = new Tracer();
  for (let at = start; at < end; at++) {
    const char = text[at] ?? '';
    if (/[A-Za-z]/.test(char)) tracer.keep(char, at);
    else if (char === ' ' && text[at + 1] === ' ') {
      tracer.keep(' ', at);
      at++;
      while (text[at + 1] === ' ') at++;
    }
  }
  return { text: tracer.text, toSource: tracer.toSource, isWrapped: always };
}

/** Lines of one block, as mail and PEM break them, count as one run. */
function joinedLines(text: string, blobs: readonly Range[]): Range[] {
  const joined: Range[] = [];
  for (const blob of blobs) {
    const last = joined.at(-1);
    const gap = last === undefined ? '' : text.slice(last.end, Math.min(blob.start, last.end + 3));
    const follows = last !== undefined && last.end + gap.length === blob.start;
    if (follows && (gap === '\n' || gap === '\r\n') && last.end - last.start >= 40) {
      joined[joined.length - 1] = { start: last.start, end: blob.end };
    } else joined.push(blob);
  }
  return joined;
}

function decode(text: string, { start, end }: Range): string | undefined {
  const encoded = text.slice(start, Math.min(end, start + BLOB_DECODED_MAX));
  const kinds = hasBytesOf(encoded);
  if (kinds.hex) {
    const plain = textOfBytes(encoded, 'hex');
    if (plain !== undefined) return plain;
  }
  return kinds.base64 ? textOfBytes(encoded, 'base64') : undefined;
}

// Base64 and hex to text, without the platform's decoders; nothing where the bytes are no text.

type Encoding = 'base64' | 'hex';

/** Fewer bytes hold nothing worth hiding, and more of them are text by chance. */
const BYTES_MIN = 10;
const HEX_RUN = /^(?:0x)?[0-9A-Fa-f\s]+$/;
const BASE64_RUN = /^[\w+/\s-]+={0,2}$/;

interface Digits {
  readonly bits: number;
  /** The value of each unit that is a digit. */
  readonly values: Uint8Array;
}

const NO_VALUE = 255;

/** Each list has the digits in order; a digit may stand in two lists. */
function digitsOf(bits: number, ...lists: readonly string[]): Digits {
  const values = new Uint8Array(128).fill(NO_VALUE);
  for (const list of lists) {
    for (let value = 0; value < list.length; value++) values[list.charCodeAt(value)] = value;
  }
  return { bits, values };
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ALNUM = `${LETTERS}${LETTERS.toLowerCase()}0123456789`;
const DIGITS: { readonly [E in Encoding]: Digits } = {
  base64: digitsOf(6, `${ALNUM}+/`, `${ALNUM}-_`),
  hex: digitsOf(4, '0123456789abcdef', '0123456789ABCDEF'),
};

/** Which encodings a run may be. */
function hasBytesOf(run: string): { readonly base64: boolean; readonly hex: boolean } {
  return {
    hex: HEX_RUN.test(run) && run.length >= 2 * BYTES_MIN,
    // Words of one case are names and paths; base64 of text has both.
    base64: /[a-z]/.test(run) && /[A-Z0-9]/.test(run) && BASE64_RUN.test(run),
  };
}

export function textOfBytes(run: string, encoding: Encoding): string | undefined {
  const bytes = bytesOf(run, DIGITS[encoding], encoding === 'hex' && run.startsWith('0x') ? 2 : 0);
  return bytes === undefined || bytes.length < BYTES_MIN ? undefined : utf8Text(bytes);
}

function bytesOf(
  run: string,
  { bits, values }: Digits,
  from: number,
): readonly number[] | undefined {
  const bytes: number[] = [];
  let heldBits = 0;
  let held = 0;
  for (let at = from; at < run.length; at++) {
    const value = values[run.charCodeAt(at)] ?? NO_VALUE;
    if (value === NO_VALUE) continue;
    held = ((held << bits) | value) & 0xffff;
    heldBits += bits;
    if (heldBits < 8) continue;
    heldBits -= 8;
    if (!isLikely(bytes, (held >> heldBits) & 0xff)) return undefined;
  }
  return bytes;
}

/** Adds a byte; a control that no text has ends the attempt, so that files cost little. */
function isLikely(bytes: number[], byte: number): boolean {
  bytes.push(byte);
  return byte >= 0x20 ? byte !== 0x7f : TEXT_CONTROLS.has(byte);
}

/** Tab, line feed, carriage return and escape. */
const TEXT_CONTROLS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x1b]);

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
