// One look at every unit of a text: what kinds of things are in it, and where the keywords, the numbers, the
// addresses, the long runs without a space and what may be disguised are. What isn't there needs no second look.
import { isDigit } from '../../json/byte-scanner.ts';
import type { KeywordTable } from '../text/keyword-table.ts';
import type { Range } from '../types.ts';
import { LETTER_CODES, SLOTS_OF_SEEDS, SLOTS_OF_WORDS } from './disguised.ts';
import { scanKeywords } from './keywords.ts';

/** Five letters with which a disguised order may begin, and where the last of them stands. */
interface Seed {
  readonly key: number;
  readonly last: number;
}

/** Where things are in a text. */
interface Places {
  /** Where keywords end, each followed by its state in the table of keywords. */
  readonly keywords: readonly number[];
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
  readonly seeds: readonly Seed[];
  /** Words that may be one of an order with letters swapped. */
  readonly words: readonly Range[];
}

export interface TextSurvey extends Places {
  readonly isAscii: boolean;
  /** Backslashes, percent signs or ampersands that may begin an escape. */
  readonly hasEscapes: boolean;
  readonly hasDigits: boolean;
  /** Controls that move a cursor or hide text. */
  readonly hasControls: boolean;
  /** Nothing stands in the text that any detector looks at, but for digits. */
  readonly isPlain: boolean;
}

// What a unit is: its class in the table of keywords, these kinds, and the letter that it is read as.
// The loop over all units has some of them as numbers: a bundler makes variables of constants.
const TOKEN = 0x40;
const DIGIT = 0x80;
const AT = 0x100;
/** A sign that may stand between letters that are set apart. */
const SPACER = 0x200;
const ESCAPE = 0x400;
const CONTROL = 0x800;
const FOREIGN = 0x1000;
const GAP = 0x2000;
const LETTER = 0x4000;
const CODE_SHIFT = 16;

const SPACED_MIN = 6;

/** What each unit is below 0x100, and behind that by the lower byte of all others. */
function unitsOf(classes: Uint8Array): Int32Array {
  const units = new Int32Array(0x200);
  const add = (at: number, kind: number) => {
    units[at] = (units[at] ?? 0) | kind;
  };
  const addAll = (chars: string, kind: number) => {
    for (let at = 0; at < chars.length; at++) add(chars.charCodeAt(at), kind);
  };
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  addAll(letters + letters.toUpperCase(), TOKEN | LETTER);
  addAll('0123456789', DIGIT | TOKEN);
  addAll('+/_=-', TOKEN);
  addAll(' -./()', GAP);
  addAll(' .-_*|', SPACER);
  addAll('@', AT);
  addAll('\\%&', ESCAPE);
  for (let unit = 0; unit < 0x20; unit++) {
    if (unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) add(unit, CONTROL);
  }
  add(0x7f, CONTROL);
  for (let byte = 0; byte < 0x100; byte++) {
    const own = classes[byte] ?? 0;
    add(byte, own | (byte < 0x80 ? (LETTER_CODES[byte] ?? 0) << CODE_SHIFT : FOREIGN));
    add(byte | 0x100, own | FOREIGN);
  }
  return units;
}

interface Tables extends Pick<KeywordTable, 'next'> {
  readonly units: Int32Array;
}

let tables: Tables | undefined;

/**
 * One of everything that the loop over all units meets: compiled code is thrown away when it comes to a part
 * that never ran, and texts are read slowly until it is compiled anew.
 */
const SAMPLE =
  '12 ignore ignroe a.b.c.d.e.f.g  h ...... xAB12 DE12 3456 7890,1 a@b.c 0123 4567 8 \u00e9\u4e00 ABCDEFGHIJKLMNOPQRSTU 1234567';

function tablesNow(): Tables {
  if (tables === undefined) {
    const { classes, next } = scanKeywords();
    tables = { units: unitsOf(classes), next };
    // What is called is remembered only from some way into the first run.
    pass(SAMPLE.repeat(4), tables, { keywords: [], events: [] });
  }
  return tables;
}

/** What was found on the way, as three numbers each: the kind, and two that say where, or which. */
type Events = number[];

const NUMBER = 1;
const ACCOUNT = 2;
const AT_SIGN = 3;
const BLOB = 4;
const SPACED = 5;
const SEED = 6;
const WORD = 7;

interface Passed {
  readonly keywords: number[];
  readonly events: Events;
}

/** Everything in one loop: reading a unit is most of the work. Returns all kinds that were seen. */
function pass(text: string, { units, next }: Tables, { keywords, events }: Passed): number {
  const { length } = text;
  const [seedSlots, wordSlots] = [SLOTS_OF_SEEDS, SLOTS_OF_WORDS];
  let seen = 0;
  let state = 0;
  let key = 0;
  let sum = 0;
  let wordAt = 0;
  let tokenAt = 0;
  let spacerAt = -1;
  let spacers = 0;
  let spacedEnd = -1;
  let numberAt = -1;
  let digitAt = -1;
  let digits = 0;
  for (let at = 0; at <= length; at++) {
    // The end of the text ends words and runs.
    let kind = 0;
    if (at < length) {
      const unit = text.charCodeAt(at);
      kind = units[unit < 0x100 ? unit : 0x100 | (unit & 0xff)] ?? 0;
    }
    seen |= kind;
    state = next[((state & ~1) << 5) + (kind & 0x3f)] ?? 0;
    if ((state & 1) !== 0) keywords.push(at + 1, state);
    const code = kind >> 16;
    if (code !== 0) {
      key = ((key << 5) | code) & 0x1ff_ffff;
      sum += code * code;
      if (seedSlots[(key ^ (key >>> 12)) & 0xfff] !== 0) events.push(SEED, key, at);
    } else {
      const size = at - wordAt;
      if (size >= 6 && size <= 12 && wordSlots[(sum + size) & 0xfff] !== 0)
        events.push(WORD, wordAt, at);
      wordAt = at + 1;
      sum = 0;
      if ((kind & 0x200) !== 0) {
        spacers = at - spacerAt <= 2 ? spacers + 1 : 1;
        spacerAt = at;
        if (spacers >= 5 && at > spacedEnd) spacedEnd = addSpaced(text, at, events);
      }
    }
    if ((kind & 0x40) === 0) {
      if (at - tokenAt >= 20) events.push(BLOB, tokenAt, at);
      tokenAt = at + 1;
    }
    if ((kind & 0x80) !== 0) {
      if (digits > 0 && isGap(text, digitAt, at)) digits++;
      else {
        if (digits >= 7) events.push(NUMBER, numberAt, digitAt + 1);
        if (opensAccount(text, at)) events.push(ACCOUNT, at - 2, 0);
        numberAt = at;
        digits = 1;
      }
      digitAt = at;
    } else if ((kind & 0x100) !== 0) events.push(AT_SIGN, at, 0);
  }
  if (digits >= 7) events.push(NUMBER, numberAt, digitAt + 1);
  return seen;
}

function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return tablesNow().units[unit < 0x100 ? unit : 0x100 | (unit & 0xff)] ?? 0;
}

/** Between two digits of one number stand at most two signs that set groups apart. */
function isGap(text: string, from: number, to: number): boolean {
  if (to - from > 3) return false;
  for (let at = from + 1; at < to; at++) if ((kindAt(text, at) & GAP) === 0) return false;
  return true;
}

/** Two letters before the digit, nothing of a word before them, and a digit behind it. */
function opensAccount(text: string, at: number): boolean {
  if (at < 2 || at + 1 >= text.length) return false;
  if ((kindAt(text, at - 1) & kindAt(text, at - 2) & LETTER) === 0) return false;
  const isInWord = at > 2 && (kindAt(text, at - 3) & (DIGIT | LETTER)) !== 0;
  return !isInWord && isDigit(text.charCodeAt(at + 1));
}

/** Adds a run around a place in which every second unit is a letter and those between are the same few signs. */
function addSpaced(text: string, at: number, events: Events): number {
  let start = at;
  while (start > 0 && isSpacedPair(text, start - 1)) start--;
  let end = at;
  while (end < text.length - 1 && isSpacedPair(text, end)) end++;
  if (end - start >= 2 * SPACED_MIN - 2) events.push(SPACED, start, end + 1);
  return end;
}

/** A letter and a sign next to each other, in either order, or two spaces, which end a word. */
function isSpacedPair(text: string, at: number): boolean {
  const here = kindAt(text, at);
  const next = kindAt(text, at + 1);
  if ((here & LETTER) !== 0) return (next & SPACER) !== 0;
  if ((here & SPACER) === 0) return false;
  return (
    (next & LETTER) !== 0 || (text.charCodeAt(at) === 0x20 && text.charCodeAt(at + 1) === 0x20)
  );
}

/** A text that nothing was found in: most are so, and share it. */
const NOTHING: Omit<Places, 'keywords'> = {
  numbers: [],
  accounts: [],
  ats: [],
  blobs: [],
  spaced: [],
  seeds: [],
  words: [],
};

function placesOf(events: Events): Omit<Places, 'keywords'> {
  const numbers: Range[] = [];
  const accounts: number[] = [];
  const ats: number[] = [];
  const blobs: Range[] = [];
  const spaced: Range[] = [];
  const seeds: Seed[] = [];
  const words: Range[] = [];
  for (let index = 0; index < events.length; index += 3) {
    const kind = events[index];
    const start = events[index + 1] ?? 0;
    const end = events[index + 2] ?? 0;
    if (kind === NUMBER) numbers.push({ start, end });
    else if (kind === ACCOUNT) accounts.push(start);
    else if (kind === AT_SIGN) ats.push(start);
    else if (kind === BLOB) blobs.push({ start, end });
    else if (kind === SPACED) spaced.push({ start, end });
    else if (kind === SEED) seeds.push({ key: start, last: end });
    else words.push({ start, end });
  }
  return { numbers, accounts, ats, blobs, spaced, seeds, words };
}

export function survey(text: string): TextSurvey {
  const passed: Passed = { keywords: [], events: [] };
  const seen = pass(text, tablesNow(), passed);
  const { keywords, events } = passed;
  const places = events.length === 0 ? NOTHING : placesOf(events);
  const isOdd = (seen & (FOREIGN | ESCAPE | CONTROL)) !== 0;
  return {
    isAscii: (seen & FOREIGN) === 0,
    hasEscapes: (seen & ESCAPE) !== 0,
    hasDigits: (seen & DIGIT) !== 0,
    hasControls: (seen & CONTROL) !== 0,
    isPlain: !isOdd && keywords.length === 0 && places === NOTHING,
    keywords,
    numbers: places.numbers,
    accounts: places.accounts,
    ats: places.ats,
    blobs: places.blobs,
    spaced: places.spaced,
    seeds: places.seeds,
    words: places.words,
  };
}
