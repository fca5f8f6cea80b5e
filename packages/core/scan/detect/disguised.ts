// Orders whose letters are disguised: digits for letters, words run together or cut elsewhere, letters
// apart, rot13, letters swapped inside of a word. One pass takes the letters of the whole text; what it
// finds is looked at where it stands.
import { decodeText } from '../../json/text.ts';
import { Tracer } from '../text/traced-text.ts';
import type { Range } from '../types.ts';
import type { DetectorHit, View } from './types.ts';

export interface Disguised {
  readonly hits: readonly DetectorHit[];
  /** Stretches of the text with the disguise taken off. */
  readonly views: readonly View[];
  /** Places of disguised letters that were too many to look at. */
  readonly skipped: number;
}

/** The letters of a text in lower case, `l` as `i`, digits as the letters that they stand for. */
interface Letters {
  readonly codes: Uint8Array;
  /** Where in the text each letter stands. */
  readonly places: Int32Array;
  /** Letters at which a seed may begin, and words that may be one of `SWAPPED`. */
  readonly seeds: readonly number[];
  readonly words: readonly Range[];
}

interface LetterOrder {
  readonly rule: string;
  /** The first five letters. */
  readonly seeds: readonly string[];
  /** Read from the seed on, or around it. */
  readonly pattern: RegExp;
}

const NONE = 0;
const A = 0x61;
const I = 0x69;
/** What is decoded around a hit: about the length of the longest pattern. */
const AROUND = 300;
const LETTERS_BEFORE = 40;
const LETTERS_AFTER = 90;
const HITS_MAX = 1_000;
const LABEL = 'gives an order to the model in disguised letters';

const ORDERS: readonly LetterOrder[] = [
  {
    rule: 'override-instructions',
    seeds: ['ignor', 'disre', 'forge', 'overr', 'bypas'],
    pattern:
      /(?:ignore|disregard|forget|override|bypass)(?:aii|any|the|your|my|of|these|previous|prior|above|eariier|system|safety|security){0,6}(?:instructions?|prompts?|ruies?|guideiines?|directives?|poiic(?:y|ies)|restrictions?|approvai|fiiters?)/y,
  },
  {
    rule: 'reveal-prompt',
    seeds: ['revea', 'dispi', 'outpu', 'repea', 'print'],
    pattern:
      /(?:reveai|print|output|repeat|dispiay)(?:me|the|your|hidden|fuii|secret|entire|internai){0,5}(?:systemprompt|hiddenprompt|prompt|instructions|systemmessage)/y,
  },
  {
    rule: 'exfiltration-request',
    seeds: ['emaii', 'crede', 'passw', 'secre', 'token', 'apike', 'recor', 'datab'],
    pattern:
      /(?<=(?:send|forward|upioad|export)[a-z]{0,24})(?:emaiis|credentiais?|passwords?|secrets|tokens|apikeys?|records|database)[a-z]{0,16}?(?:to|attacker|http|credentiais)/y,
  },
];

/** The words of orders. No other word has their letters and their ends. */
const SWAPPED = `ignore disregard forget override bypass reveal previous instructions instruction
  system prompt guidelines`.split(/\s+/);
const SWAPPED_LENGTH_MIN = 6;
const SWAPPED_LENGTH_MAX = 12;
const ROT13_SEEDS = ['ignor', 'instr', 'syste', 'previ', 'revea', 'disre', 'https'];

function codesOf(): Uint8Array {
  const codes = new Uint8Array(128);
  for (let letter = A; letter <= 0x7a; letter++) {
    codes[letter] = letter === 0x6c ? I : letter;
    codes[letter - 0x20] = codes[letter] ?? NONE;
  }
  for (const [sign, letter] of ['0o', '1i', '3e', '4a', '5s', '7t', '@a', '$s']) {
    codes[sign?.charCodeAt(0) ?? 0] = letter?.charCodeAt(0) ?? NONE;
  }
  return codes;
}

const CODES = codesOf();
const KEY_BITS = 0x1ff_ffff;
const SEED_LENGTH = 5;
const SLOTS = 4_095;

function rot13(text: string): string {
  return text.replaceAll(/[a-z]/gi, (char) => {
    const base = char < 'a' ? 0x41 : A;
    return String.fromCharCode(((char.charCodeAt(0) - base + 13) % 26) + base);
  });
}

/** The number of the order for each seed; that of rot13 is behind the last. */
const SEEDS: ReadonlyMap<string, number> = new Map([
  ...ORDERS.flatMap(({ seeds }, index) => seeds.map((seed) => [seed, index] as const)),
  ...ROT13_SEEDS.map((seed) => [rot13(seed).replaceAll('l', 'i'), ORDERS.length] as const),
]);

/** One slot for each seed, and one for each word: what meets an empty slot is neither. */
const SLOTS_OF_SEEDS = new Uint8Array(SLOTS + 1);
for (const seed of SEEDS.keys()) {
  let key = 0;
  for (let at = 0; at < SEED_LENGTH; at++) key = (key << 5) | (seed.charCodeAt(at) - A + 1);
  SLOTS_OF_SEEDS[(key ^ (key >>> 12)) & SLOTS] = 1;
}
const SLOTS_OF_WORDS = new Uint8Array(SLOTS + 1);
for (const word of SWAPPED) {
  let sum = 0;
  for (let at = 0; at < word.length; at++) sum += (CODES[word.charCodeAt(at)] ?? 0) ** 2;
  SLOTS_OF_WORDS[(sum + word.length) & SLOTS] = 1;
}

/** Calls next to nothing, so that the compiler keeps its optimised code. */
function lettersOf(text: string): Letters {
  const { length } = text;
  const codes = new Uint8Array(length);
  const places = new Int32Array(length);
  const seeds: number[] = [];
  const words: Range[] = [];
  let count = 0;
  let key = 0;
  let wordAt = 0;
  let sum = 0;
  for (let at = 0; at <= length; at++) {
    const unit = at < length ? text.charCodeAt(at) : NONE;
    const code = unit < 128 ? (CODES[unit] ?? NONE) : NONE;
    if (code !== NONE) {
      codes[count] = code;
      places[count] = at;
      count++;
      sum += code * code;
      key = ((key << 5) | (code - 0x60)) & KEY_BITS;
      if (SLOTS_OF_SEEDS[(key ^ (key >>> 12)) & SLOTS] !== 0) seeds.push(count - SEED_LENGTH);
      continue;
    }
    const size = at - wordAt;
    if (size >= SWAPPED_LENGTH_MIN && size <= SWAPPED_LENGTH_MAX) {
      if (SLOTS_OF_WORDS[(sum + size) & SLOTS] !== 0) words.push({ start: wordAt, end: at });
    }
    wordAt = at + 1;
    sum = 0;
  }
  return { codes: codes.subarray(0, count), places, seeds, words };
}

export function disguisedIn(text: string): Disguised {
  const letters = lettersOf(text);
  const hits: DetectorHit[] = [];
  const turned: Range[] = [];
  let skipped = 0;
  for (const at of letters.seeds) {
    if (at < 0) continue;
    const index = SEEDS.get(decodeText(letters.codes, at, at + SEED_LENGTH));
    const order = ORDERS[index ?? -1];
    if (order !== undefined) {
      const range = rangeOf(letters, order.pattern, at);
      if (range === undefined || !isDisguised(text, range)) continue;
      if (hits.length < HITS_MAX)
        hits.push({ class: 'injection', rule: order.rule, label: LABEL, ...range, score: 2 });
      else skipped++;
    } else if (index !== undefined) addAround(turned, letters.places[at] ?? 0, text.length);
  }
  const swapped = swappedWords(text, letters.words);
  const turnedViews = turned.slice(0, HITS_MAX).map((range) => turnedView(text, range));
  skipped += Math.max(0, turned.length - HITS_MAX) + Math.max(0, swapped.length - HITS_MAX);
  const views = [...turnedViews, ...swappedViews(text, swapped.slice(0, HITS_MAX))];
  return { hits, views, skipped };
}

function rangeOf({ codes, places }: Letters, pattern: RegExp, at: number): Range | undefined {
  const from = Math.max(0, at - LETTERS_BEFORE);
  const near = decodeText(codes, from, Math.min(codes.length, at + LETTERS_AFTER));
  pattern.lastIndex = at - from;
  const found = pattern.exec(near);
  if (found === null) return undefined;
  return { start: places[at] ?? 0, end: (places[at + found[0].length - 1] ?? 0) + 1 };
}

/** One word of one case that is longer than any word, and no name made of parts. */
const RUN_TOGETHER = /^(?:[a-z0-9@$]{16,}|[A-Z0-9@$]{16,})$/;
const MIXED = /[A-Za-z][013457@$]|[013457@$][A-Za-z]/;
const MIXED_MIN = 2;
const GROUPS_MIN = 4;
const GROUP_MAX = 5;

/** Whether a reader has to puzzle. Plain words were seen already, and names in code are no orders. */
function isDisguised(text: string, { start, end }: Range): boolean {
  const source = text.slice(start, end);
  if (RUN_TOGETHER.test(source)) return true;
  const groups = source.split(/[^A-Za-z0-9@$]+/);
  if (groups.filter((group) => MIXED.test(group)).length >= MIXED_MIN) return true;
  if (groups.length < GROUPS_MIN) return false;
  // The first and the last group may be cut.
  const { length } = groups[1] ?? '';
  return length <= GROUP_MAX && groups.slice(1, -1).every((group) => group.length === length);
}

/** Adds a place with its surroundings, together with what is near it. */
function addAround(ranges: Range[], at: number, length: number): void {
  const range = { start: Math.max(0, at - AROUND), end: Math.min(length, at + AROUND) };
  const last = ranges.at(-1);
  if (last === undefined || range.start > last.end) ranges.push(range);
  else ranges[ranges.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
}

function turnedView(text: string, { start, end }: Range): View {
  return {
    text: rot13(text.slice(start, end)),
    toSource: (range) => ({ start: start + range.start, end: start + range.end }),
    isWrapped: () => true,
  };
}

interface SwappedWord extends Range {
  readonly word: string;
}

function swappedWords(text: string, candidates: readonly Range[]): SwappedWord[] {
  return candidates.flatMap((range) => {
    const word = wordFor(text.slice(range.start, range.end));
    return word === undefined ? [] : [{ ...range, word }];
  });
}

/** The surroundings of words with swapped letters, with the letters in order. */
function swappedViews(text: string, words: readonly SwappedWord[]): View[] {
  const around: Range[] = [];
  for (const { start } of words) addAround(around, start, text.length);
  return around.map(({ start, end }) => {
    const tracer = new Tracer();
    let done = start;
    for (const found of words) {
      if (found.start < done || found.end > end) continue;
      tracer.keep(text.slice(done, found.start), done);
      tracer.replace(found.word, found);
      done = found.end;
    }
    tracer.keep(text.slice(done, end), done);
    return { text: tracer.text, toSource: tracer.toSource, isWrapped: () => false };
  });
}

/** The word that has the same letters in another order, between the same ends. */
function wordFor(found: string): string | undefined {
  const lower = found.toLowerCase();
  const sorted = (text: string) => Array.from(text).toSorted().join('');
  return SWAPPED.find(
    (word) =>
      word !== lower &&
      word[0] === lower[0] &&
      word.at(-1) === lower.at(-1) &&
      sorted(word) === sorted(lower),
  );
}
