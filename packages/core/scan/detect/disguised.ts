// Orders whose letters are disguised: digits for letters, words run together or cut elsewhere, letters
// apart, rot13, letters swapped inside of a word. The survey of a text finds where such an order may stand;
// it is looked at there.
import { Tracer } from '../text/traced-text.ts';
import type { Range } from '../types.ts';
import type { TextSurvey } from './survey.ts';
import type { DetectorHit, View } from './types.ts';

export interface Disguised {
  readonly hits: readonly DetectorHit[];
  /** Stretches of the text with the disguise taken off. */
  readonly views: readonly View[];
  /** Places of disguised letters that were too many to look at. */
  readonly skipped: number;
  /** Something may be written in rot13. */
  readonly isTurned: boolean;
}

interface LetterOrder {
  readonly rule: string;
  /** The first five letters. */
  readonly seeds: readonly string[];
  /** In letters alone, from the seed on. */
  readonly pattern: string;
  /** What stands before the seed, in letters alone. */
  readonly behind?: string;
}

const A = 0x61;
const I = 0x69;
/** What is decoded around a hit: about the length of the longest pattern. */
const AROUND = 300;
const HITS_MAX = 1_000;
const LABEL = 'gives an order to the model in disguised letters';

const ORDERS: readonly LetterOrder[] = [
  {
    rule: 'override-instructions',
    seeds: ['ignor', 'disre', 'forge', 'overr', 'bypas'],
    pattern:
      '(?:ignore|disregard|forget|override|bypass)(?:aii|any|the|your|my|of|these|previous|prior|above|eariier|system|safety|security){0,6}(?:instructions?|prompts?|ruies?|guideiines?|directives?|poiic(?:y|ies)|restrictions?|approvai|fiiters?)',
  },
  {
    rule: 'reveal-prompt',
    seeds: ['revea', 'dispi', 'outpu', 'repea', 'print'],
    pattern:
      '(?:reveai|print|output|repeat|dispiay)(?:me|the|your|hidden|fuii|secret|entire|internai){0,5}(?:systemprompt|hiddenprompt|prompt|instructions|systemmessage)',
  },
  {
    rule: 'exfiltration-request',
    seeds: ['emaii', 'crede', 'passw', 'secre', 'token', 'apike', 'recor', 'datab'],
    behind: '(?:send|forward|upioad|export)[a-z]{0,24}',
    pattern:
      '(?:emaiis|credentiais?|passwords?|secrets|tokens|apikeys?|records|database)[a-z]{0,16}?(?:to|attacker|http|credentiais)',
  },
];

/** The words of orders, of six to twelve letters. No other word has their letters and their ends. */
const SWAPPED = `ignore disregard forget override bypass reveal previous instructions instruction
  system prompt guidelines`.split(/\s+/);
const ROT13_SEEDS = ['ignor', 'instr', 'syste', 'previ', 'revea', 'disre', 'https'];

function codesOf(): Uint8Array {
  const codes = new Uint8Array(128);
  for (let letter = A; letter <= 0x7a; letter++) {
    codes[letter] = (letter === 0x6c ? I : letter) - A + 1;
    codes[letter - 0x20] = codes[letter] ?? 0;
  }
  for (const [sign, letter] of ['0o', '1i', '3e', '4a', '5s', '7t', '@a', '$s']) {
    codes[sign?.charCodeAt(0) ?? 0] = (letter?.charCodeAt(0) ?? 0) - A + 1;
  }
  return codes;
}

/**
 * The number, from 1, of the letter that a unit of ASCII is read as: digits as the letters that they stand
 * for, `l` as `i`, all in lower case.
 */
export const LETTER_CODES: Uint8Array = codesOf();
const SEED_LENGTH = 5;
const SLOTS = 4_095;

function rot13(text: string): string {
  return text.replaceAll(/[a-z]/gi, (char) => {
    const base = char < 'a' ? 0x41 : A;
    return String.fromCharCode(((char.charCodeAt(0) - base + 13) % 26) + base);
  });
}

/** The five letters of a seed as one number. */
function keyOf(seed: string): number {
  let key = 0;
  for (let at = 0; at < seed.length; at++) key = (key << 5) | codeAt(seed, at);
  return key;
}

function codeAt(text: string, at: number): number {
  return LETTER_CODES[text.charCodeAt(at)] ?? 0;
}

/** The number of the order for the key of each seed; that of rot13 is behind the last. */
const SEEDS: ReadonlyMap<number, number> = new Map([
  ...ORDERS.flatMap(({ seeds }, index) => seeds.map((seed) => [keyOf(seed), index] as const)),
  ...ROT13_SEEDS.map((seed) => [keyOf(rot13(seed)), ORDERS.length] as const),
]);

/** One slot for each seed, and one for each word: what meets an empty slot is neither. */
export const SLOTS_OF_SEEDS = new Uint8Array(SLOTS + 1);
for (const key of SEEDS.keys()) SLOTS_OF_SEEDS[(key ^ (key >>> 12)) & SLOTS] = 1;
/** The letters of a word count by their squares, whatever their order. */
export const SLOTS_OF_WORDS = new Uint8Array(SLOTS + 1);
for (const word of SWAPPED) {
  let sum = 0;
  for (let at = 0; at < word.length; at++) sum += codeAt(word, at) ** 2;
  SLOTS_OF_WORDS[(sum + word.length) & SLOTS] = 1;
}

const ANY = unitsOf((code) => code !== 0);
/** What is passed over between two letters. */
const BETWEEN = `[^${ANY}]*`;

/** All units that are read as certain letters. None of them means anything else in a class. */
function unitsOf(isMeant: (code: number) => boolean): string {
  const units = Array.from(LETTER_CODES.keys()).filter((unit) => isMeant(LETTER_CODES[unit] ?? 0));
  return String.fromCharCode(...units);
}

function spelledOut(pattern: string, written: (letter: string) => string): string {
  return pattern.replaceAll(/\[a-z\]|[a-z]\??/g, (part) => {
    if (part.startsWith('[')) return `(?:${written(`[${ANY}]`)})`;
    const code = codeAt(part, 0);
    const letter = written(`[${unitsOf((other) => other === code)}]`);
    return part.endsWith('?') ? `(?:${letter})?` : letter;
  });
}

/** The patterns of letters as they stand in a text, disguised or not. Compiled on first use: most are never tried. */
const FROM_SEED = ORDERS.map(({ pattern }) =>
  lazy(() => spelledOut(pattern, (letter) => BETWEEN + letter)),
);
const BEHIND = ORDERS.map(({ behind }) =>
  lazy(() =>
    behind === undefined ? '' : `(?<=${spelledOut(behind, (letter) => letter + BETWEEN)})`,
  ),
);

function lazy(source: () => string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => (pattern ??= new RegExp(source(), 'y'));
}

/** The order that begins with a seed. */
function orderAt(text: string, start: number, index: number): Range | undefined {
  const [from, behind] = [FROM_SEED[index]?.(), BEHIND[index]];
  if (from === undefined || behind === undefined) return undefined;
  from.lastIndex = start;
  if (!from.test(text)) return undefined;
  const isBehind = behind();
  isBehind.lastIndex = start;
  return isBehind.test(text) ? { start, end: from.lastIndex } : undefined;
}

export const NOT_DISGUISED: Disguised = { hits: [], views: [], skipped: 0, isTurned: false };

export function disguisedIn(text: string, { seeds, words }: TextSurvey): Disguised {
  if (seeds.length === 0 && words.length === 0) return NOT_DISGUISED;
  const hits: DetectorHit[] = [];
  const turned: Range[] = [];
  let skipped = 0;
  for (const { key, last } of seeds) {
    const index = SEEDS.get(key);
    if (index === undefined) continue;
    const start = seedStart(text, last);
    const order = ORDERS[index];
    if (order !== undefined) {
      const range = orderAt(text, start, index);
      if (range === undefined || !isDisguised(text, range)) continue;
      if (hits.length < HITS_MAX)
        hits.push({ class: 'injection', rule: order.rule, label: LABEL, ...range, score: 2 });
      else skipped++;
    } else addAround(turned, start, text.length);
  }
  const swapped = swappedWords(text, words);
  const turnedViews = turned.slice(0, HITS_MAX).map((range) => turnedView(text, range));
  skipped += Math.max(0, turned.length - HITS_MAX) + Math.max(0, swapped.length - HITS_MAX);
  const views = [...turnedViews, ...swappedViews(text, swapped.slice(0, HITS_MAX))];
  return { hits, views, skipped, isTurned: turned.length > 0 };
}

/** Where a seed begins whose last letter stands at a place. */
export function seedStart(text: string, last: number): number {
  let start = last;
  for (let letters = 1; letters < SEED_LENGTH && start >= 0; letters++) {
    do start--;
    while (start >= 0 && codeAt(text, start) === 0);
  }
  return start;
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
