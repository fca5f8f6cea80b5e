// What was wrapped so that a reader won't see it and a model will: escapes, base64, hex, letters set
// apart. Each is undone once.

import { readEscape } from '../escapes.ts';
import type { Range } from '../types.ts';
import { sourceRange, unescapeOnce } from '../unescape.ts';
import { hasBytesOf, textOfBytes } from './decode.ts';
import type { Survey } from './survey.ts';
import { createTracer } from './trace.ts';
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
/** As far as any pattern reads, about. */
const ISLAND = 300;
const PART = /[A-Za-z0-9+_-]{20,}={0,2}/g;

export function unwrap(text: string, seen: Survey): Unwrapped {
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
    const source = sourceRange(plain, range, false);
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
  const tracer = createTracer();
  for (let at = start; at < end; at++) {
    const char = text[at] ?? '';
    if (/[A-Za-z]/.test(char)) tracer.keep(char, at);
    else if (char === ' ' && text[at + 1] === ' ') {
      tracer.keep(' ', at);
      at++;
      while (text[at + 1] === ' ') at++;
    }
  }
  return { ...tracer.finish(), isWrapped: always };
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
