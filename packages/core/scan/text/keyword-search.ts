// Finds every keyword in one pass over the text (Aho-Corasick), so that clean text costs one table
// look-up per unit; on request the seeds of pieces too, since reading the units is most of the work.
// Units are folded to one byte and lower case: a hit is a candidate, never a proof.

import type { Match, Rule, Scanned } from '../types.ts';
import { isEscape } from './escapes.ts';

/** What is looked for, of a rule. */
type Keywords = Pick<Rule, 'name' | 'keywords' | 'anyCase' | 'edge'>;

interface Keyword {
  readonly rule: number;
  readonly length: number;
  /** Set where upper and lower case differ; and its last unit, or -1: most candidates fail there. */
  readonly exact: string | undefined;
  readonly last: number;
  /** Inside of a word it is none, unless an escape stands before it. */
  readonly edge: boolean;
}

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

interface Trie {
  readonly children: Map<number, number>[];
  readonly keywords: Keyword[][];
}

const BYTE = 0xff;
const ANY_CASE = -1;

function foldUnit(unit: number): number {
  const low = unit & BYTE;
  return low >= 0x41 && low <= 0x5a ? low + 0x20 : low;
}

function trieOf(rules: readonly Keywords[]): Trie {
  const trie: Trie = { children: [new Map<number, number>()], keywords: [[]] };
  for (const [index, rule] of rules.entries()) {
    for (const keyword of rule.keywords) {
      if (keyword === '') throw new Error(`the rule ${rule.name} has an empty keyword`);
      const { length } = keyword;
      trie.keywords[insert(trie, keyword)]?.push({
        rule: index,
        length,
        exact: rule.anyCase ? undefined : keyword,
        last: rule.anyCase ? ANY_CASE : keyword.charCodeAt(length - 1),
        edge: rule.edge === true,
      });
    }
  }
  return trie;
}

function insert({ children, keywords }: Trie, keyword: string): number {
  let node = 0;
  for (let at = 0; at < keyword.length; at++) {
    const unit = foldUnit(keyword.charCodeAt(at));
    let next = children[node]?.get(unit);
    if (next === undefined) {
      next = children.push(new Map<number, number>()) - 1;
      keywords.push([]);
      children[node]?.set(unit, next);
    }
    node = next;
  }
  return node;
}

/** Numbers the units that occur in keywords; all others are class 0. */
function classesOf({ children }: Trie): { readonly of: Uint8Array; readonly count: number } {
  const of = new Uint8Array(BYTE + 1);
  let count = 1;
  for (const edges of children) {
    for (const unit of edges.keys()) if (of[unit] === 0) of[unit] = count++;
  }
  for (let unit = 0x41; unit <= 0x5a; unit++) of[unit] = of[unit + 0x20] ?? 0;
  return { of, count };
}

/** Fills the table breadth first, so that a node's fallback is complete before the node. */
function tableOf(trie: Trie, classes: { of: Uint8Array; count: number }): Int32Array {
  const { children, keywords } = trie;
  const { of, count } = classes;
  const table = new Int32Array(children.length * count);
  const fallback = new Int32Array(children.length);
  const queue: number[] = [0];
  for (const node of queue) {
    const back = fallback[node] ?? 0;
    if (node !== 0) {
      table.copyWithin(node * count, back * count, (back + 1) * count);
      keywords[node]?.push(...(keywords[back] ?? []));
    }
    for (const [unit, child] of children[node] ?? []) {
      const cell = node * count + (of[unit] ?? 0);
      fallback[child] = node === 0 ? 0 : (table[cell] ?? 0);
      table[cell] = child;
      queue.push(child);
    }
  }
  // From numbers of nodes to offsets of rows, the lowest bit saying that keywords end here.
  return table.map((node) => ((node * count) << 1) | (keywords[node]?.length === 0 ? 0 : 1));
}

/** All that is kept: the trie itself is no longer needed. */
function tablesOf(rules: readonly Keywords[]) {
  const trie = trieOf(rules);
  const classes = classesOf(trie);
  const table = tableOf(trie, classes);
  const keywords = new Map<number, readonly Keyword[]>();
  for (const [node, ending] of trie.keywords.entries()) {
    if (ending.length > 0) keywords.set(node, ending);
  }
  return { ...classes, table, keywords };
}

export function createPrefilter(rules: readonly Keywords[]): Prefilter {
  const { of, count, table, keywords } = tablesOf(rules);

  /** Reports the keywords that end at a place, by their row of the table. */
  const teller = (text: string, onHit: OnHit) => (end: number, row: number) => {
    const unit = text.charCodeAt(end - 1);
    for (const { rule, length, exact, last, edge } of keywords.get(row / count) ?? []) {
      if (last !== ANY_CASE && last !== unit) continue;
      const start = end - length;
      if (edge && isInWord(text, start)) continue;
      if (exact === undefined || text.startsWith(exact, start)) onHit(rule, start);
    }
  };

  return {
    scan(text, onHit) {
      const tell = teller(text, onHit);
      let state = 0;
      for (let at = 0; at < text.length; at++) {
        state = table[(state >> 1) + (of[text.charCodeAt(at) & BYTE] ?? 0)] ?? 0;
        if ((state & 1) !== 0) tell(at + 1, state >> 1);
      }
    },

    scanBoth(text, onHit, probe) {
      const passed: Passed = { hits: [], seeds: [], leads: [], bits: [] };
      const { hits, seeds, leads, bits } = passed;
      pass(text, { of, table, ...probe.tables }, passed);
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

/** Whether a letter or a digit stands before, and no escape or colour that this could be the end of. */
function isInWord(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const low = foldUnit(before);
  const isWord = before < 0x80 && ((low >= 0x61 && low <= 0x7a) || (low >= 0x30 && low <= 0x39));
  if (!isWord || (before === 0x6d && endsColour(text.charCodeAt(at - 2)))) return false;
  return text[at - 2] !== '\\' && text[at - 3] !== '%' && text[at - 6] !== '\\';
}

/** The unit before the `m` of a colour, as in `[0m`, `[1;31m` and `[m`. */
export function endsColour(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x5b;
}

interface Tables extends ProbeTables {
  readonly of: Uint8Array;
  readonly table: Int32Array;
}

interface Passed {
  /** Where keywords end, each with its row of the table; where seeds end, each with its key. */
  readonly hits: number[];
  readonly seeds: number[];
  /** Where escapes may begin. */
  readonly leads: number[];
  /** All bits that are set in any unit. */
  readonly bits: number[];
}

/** Calls no function and ends with its loop, so that the compiler keeps its optimised code. */
function pass(text: string, tables: Tables, { hits, seeds, leads, bits }: Passed): void {
  const { of, table, codes, marks, mask } = tables;
  let state = 0;
  let key = 0;
  let passed = -1;
  let seen = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    seen |= unit;
    state = table[(state >> 1) + (of[unit & 0xff] ?? 0)] ?? 0;
    if ((state & 1) !== 0) hits.push(at + 1, state >> 1);
    const code = codes[unit & 0xff] ?? 0;
    if (code < LEAD) {
      if (at === passed) continue;
      key = nextKey(key, code);
      if (marks[hashOf(key, mask)] !== 0) seeds.push(at, key);
    } else if (code <= BACKSLASH) {
      const next = text.charCodeAt(at + 1);
      if (code === BACKSLASH && isEscapeLetter(next)) passed = at + 1;
      // What JSON is full of hides nothing: \", \\ and \/.
      else if (next !== 0x22 && next !== 0x5c && next !== 0x2f) leads.push(at);
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
