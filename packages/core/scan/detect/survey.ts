// One look at every unit of a text: what kinds of things are in it, and where the numbers, the
// addresses and the long runs without a space are. What isn't there needs no second look.
import { isDigit } from '../../json/byte-scanner.ts';
import type { Range } from '../types.ts';

export interface TextSurvey {
  readonly isAscii: boolean;
  /** Backslashes, percent signs or ampersands that may begin an escape. */
  readonly hasEscapes: boolean;
  readonly hasDigits: boolean;
  /** Controls that move a cursor or hide text. */
  readonly hasControls: boolean;
  /** Runs of digits with single separators, of at least seven digits. */
  readonly numbers: readonly Range[];
  /** Where two letters and two digits stand at a word's beginning. */
  readonly accounts: readonly number[];
  /** Where an @ stands. */
  readonly ats: readonly number[];
  /** Runs of base64 or hex characters. */
  readonly blobs: readonly Range[];
  /** Where letters stand apart, one by one. */
  readonly spaced: readonly Range[];
}

const DIGIT = 1;
const TOKEN = 2;
const AT = 4;
const ESCAPE = 8;
const GAP = 16;
const CONTROL = 32;
const LETTER = 64;
const FOREIGN = 128;
/** A sign that may stand between letters that are set apart. */
const SPACER = 256;
const GAP_MAX = 2;
const DIGITS_MIN = 7;
const BLOB_MIN = 20;
const SPACED_MIN = 6;

function kindsOf(): Uint16Array {
  const kinds = new Uint16Array(128);
  const set = (chars: string, kind: number) => {
    for (let at = 0; at < chars.length; at++) {
      const unit = chars.charCodeAt(at);
      kinds[unit] = (kinds[unit] ?? 0) | kind;
    }
  };
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  set(letters + letters.toUpperCase(), TOKEN | LETTER);
  set('0123456789', DIGIT | TOKEN);
  set('+/_=-', TOKEN);
  set(' -./()', GAP);
  set(' .-_*|', SPACER);
  set('@', AT);
  set('\\%&', ESCAPE);
  for (let unit = 0; unit < 0x20; unit++) {
    if (unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) kinds[unit] = CONTROL;
  }
  kinds[0x7f] = CONTROL;
  return kinds;
}

const KINDS = kindsOf();

/** Two letters before the digit, nothing of a word before them, and a digit behind it. */
function opensAccount(text: string, at: number): boolean {
  if (!isLetterUnit(text.charCodeAt(at - 1)) || !isLetterUnit(text.charCodeAt(at - 2)))
    return false;
  const before = text.charCodeAt(at - 3);
  const inWord = before < 128 && ((KINDS[before] ?? 0) & (DIGIT | LETTER)) !== 0;
  return !inWord && isDigit(text.charCodeAt(at + 1));
}

/** Flat lists of places, filled by the loop below. */
interface Places {
  /** Where each run, or each number, begins and ends. */
  readonly blobs: number[];
  readonly numbers: number[];
  /** Where any row of digits begins. */
  readonly starts: number[];
  readonly ats: number[];
  /** All the kinds that were seen. */
  readonly kinds: number[];
}

/** Calls no function and ends with its loop, so that the compiler keeps its optimised code. */
function pass(text: string, { blobs, numbers, starts, ats, kinds }: Places): void {
  const { length } = text;
  let seen = 0;
  let tokenAt = -1;
  let numberAt = -1;
  let lastDigit = -1;
  let digits = 0;
  let gapOk = false;
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(at);
    const kind = unit < 128 ? (KINDS[unit] ?? 0) : FOREIGN;
    seen |= kind;
    if ((kind & TOKEN) === 0) {
      if (tokenAt >= 0 && at - tokenAt >= BLOB_MIN) blobs.push(tokenAt, at);
      tokenAt = -1;
    } else if (tokenAt < 0) tokenAt = at;
    if ((kind & DIGIT) !== 0) {
      if (gapOk && at - lastDigit <= GAP_MAX + 1) digits++;
      else {
        if (digits >= DIGITS_MIN) numbers.push(numberAt, lastDigit + 1);
        numberAt = at;
        digits = 1;
        starts.push(at);
      }
      lastDigit = at;
      gapOk = true;
    } else if ((kind & GAP) === 0) gapOk = false;
    if ((kind & AT) !== 0) ats.push(at);
  }
  if (tokenAt >= 0 && length - tokenAt >= BLOB_MIN) blobs.push(tokenAt, length);
  if (digits >= DIGITS_MIN) numbers.push(numberAt, lastDigit + 1);
  kinds.push(seen);
}

export function survey(text: string): TextSurvey {
  const places: Places = { blobs: [], numbers: [], starts: [], ats: [], kinds: [] };
  pass(text, places);
  const seen = places.kinds[0] ?? 0;
  return {
    isAscii: (seen & FOREIGN) === 0,
    hasEscapes: (seen & ESCAPE) !== 0,
    hasDigits: (seen & DIGIT) !== 0,
    hasControls: (seen & CONTROL) !== 0,
    numbers: rangesIn(places.numbers),
    accounts: places.starts.filter((at) => opensAccount(text, at)).map((at) => at - 2),
    ats: places.ats,
    blobs: rangesIn(places.blobs),
    spaced: spacedLetters(text),
  };
}

function rangesIn(ends: readonly number[]): Range[] {
  return Array.from({ length: ends.length / 2 }, (_, index) => {
    return { start: ends[2 * index] ?? 0, end: ends[2 * index + 1] ?? 0 };
  });
}

/** Runs in which every second unit is a letter and those between are the same few signs. */
function spacedLetters(text: string): Range[] {
  const found: Range[] = [];
  for (let at = 1; at < text.length; at += 4) {
    // Any such run of six letters has one of its signs or letters here, with its like two further on.
    if (!isSpacedAround(text, at)) continue;
    let start = at;
    while (start > 0 && isSpacedPair(text, start - 1)) start--;
    let end = at;
    while (end < text.length - 1 && isSpacedPair(text, end)) end++;
    if (end - start >= 2 * SPACED_MIN - 2) found.push({ start, end: end + 1 });
    at = Math.max(at, end);
  }
  return found;
}

const isLetterUnit = (unit: number) => unit < 128 && ((KINDS[unit] ?? 0) & LETTER) !== 0;
const isSpacer = (unit: number) => unit < 128 && ((KINDS[unit] ?? 0) & SPACER) !== 0;

/** A letter and a sign next to each other, in either order, or two spaces, which end a word. */
function isSpacedPair(text: string, at: number): boolean {
  const here = text.charCodeAt(at);
  const next = text.charCodeAt(at + 1);
  if (isLetterUnit(here)) return isSpacer(next);
  return isSpacer(here) && (isLetterUnit(next) || (here === 0x20 && next === 0x20));
}

function isSpacedAround(text: string, at: number): boolean {
  return isSpacedPair(text, at - 1) && isSpacedPair(text, at) && isSpacedPair(text, at + 1);
}
