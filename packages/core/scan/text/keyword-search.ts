// Finds every keyword in one pass over the text, so that clean text costs one table look-up per unit; on
// request the seeds of pieces too, since reading the units is most of the work.

import type { Match, Rule, Scanned } from '../types.ts';
import { isEscape } from './escapes.ts';
import { type Keywords, type KeywordTable, keywordStart, keywordTable } from './keyword-table.ts';

type OnHit = (rule: number, at: number) => void;

/** What may hide letters. */
export interface Hiding {
  readonly hasEscapes: boolean;
  readonly isAscii: boolean;
}

export interface Prefilter {
  /** Calls `onHit` with the rule's index and the place where its keyword begins. */
  readonly scan: (text: string, onHit: OnHit) => void;
  /** The same, and looks for seeds; says what else there is that may hide letters. */
  readonly scanBoth: (text: string, onHit: OnHit, probe: Probe) => Hiding;
}

export function createPrefilter(rules: readonly Keywords[]): Prefilter {
  const keywords = keywordTable(rules);
  const { classes, next, ending } = keywords;

  /** Reports the keywords that end at a place. */
  const teller = (text: string, onHit: OnHit) => (end: number, state: number) => {
    for (const keyword of ending.get(state) ?? []) {
      const start = keywordStart(text, end, keyword);
      if (start >= 0) onHit(keyword.rule, start);
    }
  };

  return {
    scan(text, onHit) {
      const tell = teller(text, onHit);
      let state = 0;
      for (let at = 0; at < text.length; at++) {
        state = next[((state & ~1) << 5) + (classes[text.charCodeAt(at) & 0xff] ?? 0)] ?? 0;
        if ((state & 1) !== 0) tell(at + 1, state);
      }
    },

    scanBoth(text, onHit, probe) {
      const passed: Passed = { hits: [], seeds: [], leads: [], bits: [] };
      const { hits, seeds, leads, bits } = passed;
      pass(text, { ...keywords, ...probe.tables }, passed);
      const tell = teller(text, onHit);
      for (let at = 0; at < hits.length; at += 2) tell(hits[at] ?? 0, hits[at + 1] ?? 0);
      for (let at = 0; at < seeds.length; at += 2) probe.onSeed(seeds[at + 1] ?? 0, seeds[at] ?? 0);
      const hasEscapes = leads.some((at) => isEscape(text, at));
      return { hasEscapes, isAscii: (bits[0] ?? 0) < 0x80 };
    },
  };
}

/** Asks a rule where its keyword stands, and not again before the place that it has read to. */
export function askRules(
  rules: readonly Rule[],
  { text, truncated }: Scanned,
  onAnswer: (index: number, match: Match | undefined, at: number) => void,
): OnHit {
  let readTo: Int32Array | undefined;
  return (index, at) => {
    readTo ??= new Int32Array(rules.length);
    const rule = rules[index];
    if (rule === undefined || at < (readTo[index] ?? 0)) return;
    const place = { text, at, truncated };
    const match = rule.match(place);
    readTo[index] = match?.readTo ?? rule.missedTo?.(place) ?? 0;
    onAnswer(index, match, at);
  };
}

type Tables = ProbeTables & Pick<KeywordTable, 'classes' | 'next'>;

interface Passed {
  /** Where keywords end, each with its state; where seeds end, each with its key. */
  readonly hits: number[];
  readonly seeds: number[];
  /** Where escapes may begin. */
  readonly leads: number[];
  /** All bits that are set in any unit. */
  readonly bits: number[];
}

/** Calls no function and ends with its loop, so that the compiler keeps its optimised code. */
function pass(text: string, tables: Tables, { hits, seeds, leads, bits }: Passed): void {
  const { classes, next, codes, marks, mask } = tables;
  let state = 0;
  let key = 0;
  let passed = -1;
  let seen = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    seen |= unit;
    state = next[((state & ~1) << 5) + (classes[unit & 0xff] ?? 0)] ?? 0;
    if ((state & 1) !== 0) hits.push(at + 1, state);
    const code = codes[unit & 0xff] ?? 0;
    if (code < LEAD) {
      if (at === passed) continue;
      key = nextKey(key, code);
      if (marks[hashOf(key, mask)] !== 0) seeds.push(at, key);
    } else if (code <= BACKSLASH) {
      const behind = text.charCodeAt(at + 1);
      if (code === BACKSLASH && isEscapeLetter(behind)) passed = at + 1;
      // What JSON is full of hides nothing: \", \\ and \/.
      else if (behind !== 0x22 && behind !== 0x5c && behind !== 0x2f) leads.push(at);
    }
  }
  bits.push(seen);
}

// How the last six codes of a text are kept in one number, and looked up in a table.

/** The codes of units, and whether a seed has a hash. */
export interface ProbeTables {
  readonly codes: Uint8Array;
  readonly marks: Uint8Array;
  readonly mask: number;
}

/** What a pass over a text needs to look for seeds. */
export interface Probe {
  readonly tables: ProbeTables;
  /** Called for each seed, or what looks like one, whose last code stands at `at`. */
  readonly onSeed: (key: number, at: number) => void;
}

export const SEED_LENGTH = 6;

// Numbers, not names, in what runs for every unit: a bundler makes variables of a module's constants,
// and the compiler then reads them anew each time.

/** Six codes; those before them have left the number at its top. */
export function nextKey(key: number, code: number): number {
  return (key << 5) | (code << 2);
}

/** The golden ratio spreads the keys; a constant shift tells the compiler that 22 bits are left. */
export function hashOf(key: number, mask: number): number {
  return (Math.imul(key, 0x9e37_79b1) >>> 10) & mask;
}

// How a unit of text is read when pieces are looked for. Between letters and digits everything is
// passed over, except what encloses: a piece never reaches out of a JSON string or a bracket.

/** The code of each unit, by its lower byte, or one of the marks below. */
export type Alphabet = Uint8Array;

export interface Squeezed {
  readonly codes: Uint8Array;
  /** Where each code's unit stands. */
  readonly placeOf: (at: number) => number;
}

/** Ends a piece. */
export const BREAK = 0;
/** Codes from here on are passed over: `%` and `&`, the backslash, and the rest. */
export const LEAD = 253;
const BACKSLASH = 254;
const SKIP = 255;

const isUpper = (unit: number) => unit >= 0x41 && unit <= 0x5a;
const lower = (unit: number) => (isUpper(unit) ? unit + 0x20 : unit);

function plainCode(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x2f;
  const letter = lower(unit);
  if (letter >= 0x61 && letter <= 0x7a) return letter - 0x56;
  if (unit >= 0x80) return SKIP;
  const char = String.fromCharCode(unit);
  if (char === '\\') return BACKSLASH;
  if (char === '%' || char === '&') return LEAD;
  return '"\'`[]{}()<>'.includes(char) ? BREAK : SKIP;
}

/** Letters and digits, upper and lower case alike. */
export const LETTERS: Alphabet = Uint8Array.from({ length: 256 }, (_, unit) => plainCode(unit));

/** Every unit counts, for values with many signs; upper and lower case alike. */
export const UNITS: Alphabet = Uint8Array.from({ length: 256 }, (_, unit) => {
  const low = lower(unit);
  return low === BREAK || low >= LEAD ? 1 : low;
});

export function codeAt(alphabet: Alphabet, text: string, at: number): number {
  return alphabet[text.charCodeAt(at) & 0xff] ?? SKIP;
}

/** The letter of `\n`, `\r`, `\t`, `\b` and `\f` is no letter of the text. */
export function isEscapeLetter(unit: number): boolean {
  return unit === 0x6e || unit === 0x72 || unit === 0x74 || unit === 0x62 || unit === 0x66;
}

/** The next place with a code that counts, or the text's end. */
export function placeFrom(alphabet: Alphabet, text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = codeAt(alphabet, text, at);
    if (code < LEAD) return at;
    if (code === BACKSLASH && isEscapeLetter(text.charCodeAt(at + 1))) at++;
  }
  return text.length;
}

/** The last place with a code that counts, or -1. */
export function placeTo(alphabet: Alphabet, text: string, to: number): number {
  const hasEscapes = alphabet === LETTERS;
  for (let at = to; at >= 0; at--) {
    if (codeAt(alphabet, text, at) >= LEAD) continue;
    const escaped = hasEscapes && text[at - 1] === '\\' && isEscapeLetter(text.charCodeAt(at));
    if (!escaped) return at;
  }
  return -1;
}

/** The codes that count, and where each stands. */
export function squeeze(alphabet: Alphabet, units: ArrayLike<number>): Squeezed {
  const kept = new Uint8Array(units.length);
  // Most forms have nothing to pass over, and need no places.
  let places: Int32Array | undefined;
  let count = 0;
  let before = 0;
  for (let at = 0; at < units.length; at++) {
    const unit = units[at] ?? 0;
    const code = alphabet[unit & 0xff] ?? SKIP;
    const isPassed = code >= LEAD || (before === BACKSLASH && isEscapeLetter(unit));
    before = code;
    if (isPassed) {
      places ??= Int32Array.from({ length: units.length }, (_, place) => place);
      continue;
    }
    if (places !== undefined) places[count] = at;
    kept[count++] = code;
  }
  const placeOf = (at: number) => (places === undefined ? at : (places[at] ?? 0));
  return { codes: kept.subarray(0, count), placeOf };
}
