// Looks for injected values whose letters stand apart, with anything between them, or are written in
// letters and digits that only look like their own.

import { createPrefilter, isEscapeLetter, type Prefilter } from '../text/keyword-search.ts';
import { foldChar } from '../text/look-alikes.ts';
import { isRandom } from '../text/randomness.ts';
import type { Range, Scanned } from '../types.ts';

/** `isAscii` says that the text has no other letters. */
type SetApartSearch = (task: Scanned, isAscii: boolean, onRange: (range: Range) => void) => void;

/** The letters and digits of a text, in lower case, and where each comes from. */
interface FoldedLetters {
  readonly letters: string;
  readonly places: readonly number[];
  /** How many other characters stand before each. */
  readonly gaps: readonly number[];
}

interface ApartValue {
  readonly letters: string;
  /**
   * Of a value drawn by lot the letters tell enough. The digits of a number must stand as close as
   * numbers are written. Words stand in honest text: most of their letters must be disguised.
   */
  readonly kind: 'random' | 'number' | 'words';
}

/** Fewer letters tell nothing. */
const LETTERS_MIN = 6;
/** A value is taken for found after so many letters, which bounds the work on hostile text. */
const LETTERS_MAX = 64;
const ANCHOR = 6;
const BACKSLASH = 0x5c;
/** Between the digits of one number, and of one that is so short that others hold it by chance. */
const NUMBER_GAP_MAX = 3;
const SHORT_NUMBER = 8;
const SHORT_NUMBER_GAP_MAX = 1;
const CHUNK = 4_096;
/** Units whose folding is known: nothing that counts, or a letter's code. Others take the long way. */
const UNKNOWN = 0;
const PASSED = 1;
const SEVERAL = 2;
const ESCAPED = true;
const AS_IT_STANDS = false;
let known: Uint8Array | undefined;

export function createSetApartSearch(values: readonly string[]): SetApartSearch {
  const wanted = [...new Set(values)].flatMap(wantedOf);
  if (wanted.length === 0) return () => undefined;
  const hasNumbers = wanted.some(({ kind }) => kind === 'number');
  const hasWords = wanted.some(({ kind }) => kind === 'words');
  let prefilter: Prefilter | undefined;
  return ({ text }, isAscii, onRange) => {
    // What is drawn by lot is found by its pieces where separators are all that hides it.
    const isNeeded = !isAscii || hasNumbers || (hasWords && hasLoneLetters(text));
    if (!isNeeded) return;
    prefilter ??= createPrefilter(
      wanted.map(({ letters, kind }) => ({
        name: kind,
        keywords: [letters.slice(0, ANCHOR)],
        anyCase: false,
      })),
    );
    // Between letters, `\\n` of JSON is a newline; a backslash and an n may stand there as well.
    const readings = text.includes('\\') ? [ESCAPED, AS_IT_STANDS] : [AS_IT_STANDS];
    for (const hasEscapes of readings) {
      const reading = readingOf(text, hasEscapes);
      prefilter.scan(reading.letters, (index, at) => {
        const one = wanted[index];
        const range = one && rangeOf(text, reading, { ...one, at });
        if (range !== undefined) onRange(range);
      });
    }
  };
}

function wantedOf(value: string): ApartValue[] {
  const letters = readingOf(value, AS_IT_STANDS).letters.slice(0, LETTERS_MAX);
  if (letters.length < LETTERS_MIN) return [];
  if (/^\s*\d+\s*$/.test(value)) return [{ letters, kind: 'number' }];
  return [{ letters, kind: isRandom(value) && letters.length >= ANCHOR + 2 ? 'random' : 'words' }];
}

/** Where a value stands in the text, if its letters are far enough from being their own. */
function rangeOf(
  text: string,
  reading: FoldedLetters,
  { letters, kind, at }: ApartValue & { readonly at: number },
): Range | undefined {
  if (!reading.letters.startsWith(letters, at)) return undefined;
  const { places, gaps } = reading;
  const last = at + letters.length - 1;
  const gapMax = letters.length < SHORT_NUMBER ? SHORT_NUMBER_GAP_MAX : NUMBER_GAP_MAX;
  let disguised = 0;
  for (let index = at; index <= last; index++) {
    const gap = index === at ? 0 : (gaps[index] ?? 0);
    if (kind === 'number' && gap > gapMax) return undefined;
    if (gap > 0 || text.charCodeAt(places[index] ?? 0) >= 0x80) disguised++;
  }
  if (kind === 'words' && disguised * 3 < (letters.length - 1) * 2) return undefined;
  const end = places[last] ?? 0;
  const isPair = (text.codePointAt(end) ?? 0) > 0xffff;
  return { start: places[at] ?? 0, end: end + (isPair ? 2 : 1) };
}

/** Whether six letters or digits in a row each stand alone. */
function hasLoneLetters(text: string): boolean {
  let lone = 0;
  let run = 0;
  for (let at = 0; at <= text.length; at++) {
    const unit = text.charCodeAt(at);
    if (asciiCode(unit) !== PASSED) run++;
    else {
      if (run > 0) lone = run === 1 ? lone + 1 : 0;
      if (lone >= LETTERS_MIN) return true;
      run = 0;
      if (unit === BACKSLASH && isEscapeLetter(text.charCodeAt(at + 1))) at++;
    }
  }
  return false;
}

/** The code of a letter or digit in lower case. */
function asciiCode(unit: number): number {
  if ((unit >= 0x30 && unit <= 0x39) || (unit >= 0x61 && unit <= 0x7a)) return unit;
  return unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : PASSED;
}

/** One pass over the text; how a character folds is looked up once. */
function readingOf(text: string, hasEscapes: boolean): FoldedLetters {
  const codes: number[] = [];
  const places: number[] = [];
  const gaps: number[] = [];
  let gap = 0;
  const add = (code: number, at: number) => {
    if (code === PASSED) {
      gap++;
      return;
    }
    codes.push(code);
    places.push(at);
    gaps.push(gap);
    gap = 0;
  };
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (hasEscapes && unit === BACKSLASH && isEscapeLetter(text.charCodeAt(at + 1))) {
      add(PASSED, at);
      at++;
      continue;
    }
    const code = unit < 0x80 ? asciiCode(unit) : codeOf(unit);
    if (code !== SEVERAL) {
      add(code, at);
      continue;
    }
    const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
    // Where nothing is left of it, something stood there all the same.
    for (const letter of foldChar(char) || ' ') add(asciiCode(letter.charCodeAt(0)), at);
    at += char.length - 1;
  }
  let letters = '';
  for (let at = 0; at < codes.length; at += CHUNK) {
    letters += String.fromCharCode(...codes.slice(at, at + CHUNK));
  }
  return { letters, places, gaps };
}

/** How a unit beyond ASCII folds; a half of a pair is looked at with its other half. */
function codeOf(unit: number): number {
  if (unit >= 0xd800 && unit <= 0xdfff) return SEVERAL;
  known ??= new Uint8Array(0x1_0000);
  const code = known[unit] ?? UNKNOWN;
  if (code !== UNKNOWN) return code;
  const letters = Array.from(foldChar(String.fromCharCode(unit)), (char) =>
    asciiCode(char.charCodeAt(0)),
  ).filter((one) => one > SEVERAL);
  const found = letters.length > 1 ? SEVERAL : (letters[0] ?? PASSED);
  known[unit] = found;
  return found;
}
