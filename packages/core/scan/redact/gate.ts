// A quick look at bytes before they are decoded: whether any keyword stands in them. It reads every
// second place only, three bytes at a time: wherever a keyword begins, one of these threes lies on
// it. Bytes are folded to six bits, which keeps the table small: it is a set of bits.
import { endsColour } from '../text/keyword-table.ts';
import type { Range, Rule } from '../types.ts';

/** True when no keyword stands there, so that no rule could find anything. */
export type CleanCheck = (bytes: Uint8Array, start: number, end: number) => boolean;

interface Keyword {
  readonly text: string;
  /** Upper and lower case are the same. */
  readonly anyCase: boolean;
  /** A keyword inside a word does not count, unless an escape stands before it. */
  readonly edge: boolean;
}

interface Keywords {
  /** One bit for each three that a keyword begins with or goes on with. */
  readonly marks: Int32Array;
  /** Set for each two bytes in lower case that a keyword begins with; and those keywords. */
  readonly starts: Uint8Array;
  readonly byStart: ReadonlyMap<number, readonly Keyword[]>;
}

const FOLD = 0x3f;
const FOLDS = Array.from({ length: FOLD + 1 }, (_, fold) => fold);
const FOLD_BITS = 6;
const KEYWORDS_MAX = 32;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const PLAIN = /^[\x20-\x7e]{2,}$/;

export function createGate(rules: readonly Rule[]): CleanCheck {
  const all = rules.flatMap(({ keywords, anyCase, edge = false }) =>
    shortened(keywords).map((text) => ({ text, anyCase, edge })),
  );
  // A keyword that cannot be looked for keeps the gate shut.
  if (!all.every(({ text }) => PLAIN.test(text))) return () => false;
  const keywords = tablesOf(all);
  return (bytes, start, end) =>
    isClean(keywords, bytes, { start, end: Math.min(end, bytes.length) });
}

/** Of very many keywords the beginnings: to try each of them would take longer than a false alarm. */
function shortened(keywords: readonly string[]): readonly string[] {
  if (keywords.length <= KEYWORDS_MAX) return keywords;
  return [...new Set(keywords.map((keyword) => keyword.slice(0, 2)))];
}

function tablesOf(keywords: readonly Keyword[]): Keywords {
  const marks = new Int32Array(FOLDS.length ** 3 / 32);
  const starts = new Uint8Array(1 << 16);
  const byStart = new Map<number, Keyword[]>();
  for (const keyword of keywords) {
    const { text, anyCase } = keyword;
    const start = (lower(text.charCodeAt(0)) << 8) | lower(text.charCodeAt(1));
    if (starts[start] === 1) byStart.get(start)?.push(keyword);
    else byStart.set(start, [keyword]);
    starts[start] = 1;
    const first = foldsOf(text.charCodeAt(0), anyCase);
    const second = foldsOf(text.charCodeAt(1), anyCase);
    const third = text.length < 3 ? FOLDS : foldsOf(text.charCodeAt(2), anyCase);
    // For both kinds of places that it can begin at.
    mark(marks, [first, second, third]);
    if (text.length < 4) markEnd(marks, first, second);
    else mark(marks, [second, third, foldsOf(text.charCodeAt(3), anyCase)]);
  }
  return { marks, starts, byStart };
}

function foldsOf(byte: number, anyCase: boolean): readonly number[] {
  return anyCase && isLetter(byte) ? [byte & FOLD, (byte ^ 0x20) & FOLD] : [byte & FOLD];
}

type FoldsOfThree = readonly [readonly number[], readonly number[], readonly number[]];

function mark(marks: Int32Array, [first, second, third]: FoldsOfThree): void {
  for (const a of first) {
    for (const b of second) {
      const two = a | (b << FOLD_BITS);
      for (let at = 0; at < third.length; at++) {
        const three = two | ((third[at] ?? 0) << (2 * FOLD_BITS));
        marks[three >> 5] = (marks[three >> 5] ?? 0) | (1 << (three & 31));
      }
    }
  }
}

/** The threes that end with these two; what may stand before them are two whole words. */
function markEnd(marks: Int32Array, second: readonly number[], third: readonly number[]): void {
  for (const b of second) {
    for (const c of third) {
      const word = ((b << FOLD_BITS) | (c << (2 * FOLD_BITS))) >> 5;
      marks[word] = -1;
      marks[word + 1] = -1;
    }
  }
}

function isClean({ marks, starts, byStart }: Keywords, bytes: Uint8Array, range: Range): boolean {
  const { start, end } = range;
  const view = new DataView(bytes.buffer, bytes.byteOffset, end);
  for (let at = marked(marks, view, start); at < end; at = marked(marks, view, at + 2)) {
    for (let from = at - 1; from <= at + 1; from++) {
      const two = startAt(bytes, from);
      if (starts[two] === 0) continue;
      for (const keyword of byStart.get(two) ?? []) {
        if (from + keyword.text.length > end || !isAt(keyword, bytes, from)) continue;
        if (!keyword.edge || from <= start || !isInWord(bytes, from)) return false;
      }
    }
  }
  return true;
}

function startAt(bytes: Uint8Array, at: number): number {
  return (lower(bytes[at] ?? 0) << 8) | lower(bytes[at + 1] ?? 0);
}

/** The next place whose three begins or goes on like a keyword; near the end, any place. */
function marked(marks: Int32Array, view: DataView, from: number): number {
  // Four bytes at a time, which hold one three and the beginning of the next.
  const stop = view.byteLength - 8;
  let at = from;
  if (at > stop) return at;
  let four = view.getInt32(at, true) & 0x3f3f3f3f;
  for (; at <= stop; at += 4) {
    const next = view.getInt32(at + 4, true) & 0x3f3f3f3f;
    const key = (four & 0x3f) | ((four >> 2) & 0xfc0) | ((four >> 4) & 0x3f000);
    if ((((marks[key >> 5] ?? 0) >> (key & 31)) & 1) !== 0) return at;
    const later = ((four >> 16) & 0x3f) | ((four >> 18) & 0xfc0) | ((next & 0x3f) << 12);
    if ((((marks[later >> 5] ?? 0) >> (later & 31)) & 1) !== 0) return at + 2;
    four = next;
  }
  return at;
}

function isAt({ text, anyCase }: Keyword, bytes: Uint8Array, from: number): boolean {
  for (let index = 0; index < text.length; index++) {
    const wanted = text.charCodeAt(index);
    const byte = bytes[from + index] ?? 0;
    if (byte !== wanted && !(anyCase && lower(byte) === lower(wanted))) return false;
  }
  return true;
}

/** Whether a letter or a digit stands before, and no escape or colour that this could be the end of. */
function isInWord(bytes: Uint8Array, from: number): boolean {
  const before = bytes[from - 1] ?? 0;
  if (!isLetter(before) && !(before >= 0x30 && before <= 0x39)) return false;
  if (before === 0x6d && endsColour(bytes[from - 2] ?? 0)) return false;
  return (
    bytes[from - 2] !== BACKSLASH && bytes[from - 3] !== PERCENT && bytes[from - 6] !== BACKSLASH
  );
}

function isLetter(byte: number): boolean {
  const low = lower(byte);
  return low >= 0x61 && low <= 0x7a;
}

function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

/** A gate that is built when the first bytes come: a start-up should not wait for it. */
export function lazyGate(rules: readonly Rule[]): CleanCheck {
  let gate: CleanCheck | undefined;
  return (bytes, start, end) => {
    gate ??= createGate(rules);
    return gate(bytes, start, end);
  };
}
