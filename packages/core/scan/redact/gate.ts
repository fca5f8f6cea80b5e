// A quick look at bytes before they are decoded: whether any keyword stands in them. It reads every
// second place only, three bytes at a time: wherever a keyword begins, one of these threes lies on
// it. Bytes are folded to six bits, which keeps the table small: it is a set of bits.
import type { Range, Rule } from '../types.ts';

/** True when no keyword stands there, so that no rule could find anything. */
export type Gate = (bytes: Uint8Array, start: number, end: number) => boolean;

interface Keyword {
  readonly word: Uint8Array;
  /** Upper and lower case are the same. */
  readonly anyCase: boolean;
  /** Inside of a word it is none, unless an escape stands before it. */
  readonly edge: boolean;
}

interface KeywordCandidate extends Keyword {
  /** Where it would begin, from the place of the three. */
  readonly shift: -1 | 0 | 1;
}

const FOLD = 0x3f;
const FOLDS = FOLD + 1;
const FOLD_BITS = 6;
const ANY = -1;
const NONE = -1;
const NO_FOLDS: readonly number[] = [];
const THREE = FOLDS ** 3 - 1;
/** Of a key of two bytes: those that follow any, or those that any may follow. */
const TAIL = 1 << 18;
const HEAD = 1 << 19;
const HASHES = 1 << 12;
const KEYWORDS_MAX = 32;

function hashOf(key: number): number {
  return Math.imul(key, 0x9e37_79b1) >>> 20;
}

class Threes {
  /** One bit for each three. */
  readonly marks = new Int32Array(FOLDS ** 3 / 32);
  /** What is tried at each three, by its hash: the first, and for each the next. */
  readonly heads = new Int16Array(HASHES).fill(NONE);
  readonly nexts: number[] = [];
  readonly candidates: (KeywordCandidate & { readonly key: number })[] = [];
  /** For each candidate its first byte in lower case: most are told by it. */
  readonly firsts: number[] = [];

  /** Adds a keyword for both kinds of places that it can begin at. */
  add(keyword: Keyword): void {
    const [first = ANY, second = ANY, third = ANY, fourth = ANY] = keyword.word;
    this.#mark([first, second, third], { ...keyword, shift: 0 });
    if (fourth === ANY) this.#mark([ANY, first, second], { ...keyword, shift: 1 });
    else this.#mark([second, third, fourth], { ...keyword, shift: -1 });
  }

  #mark(three: readonly [number, number, number], candidate: KeywordCandidate): void {
    const [first = NO_FOLDS, second = NO_FOLDS, third = NO_FOLDS] = three.map((byte) =>
      foldsOf(byte, candidate.anyCase),
    );
    // What may be anything is marked with every fold, and noted once.
    for (const a of first) {
      for (const b of second) {
        for (const c of third) this.#note(keyOf(a, b, c), candidate);
      }
    }
  }

  #note(key: number, candidate: KeywordCandidate): void {
    const isWide = (key & (TAIL | HEAD)) !== 0;
    const step = (key & TAIL) !== 0 ? 1 : 1 << (2 * FOLD_BITS);
    for (let fold = 0; fold < (isWide ? FOLDS : 1); fold++) {
      const three = (key & THREE) + fold * step;
      this.marks[three >> 5] = (this.marks[three >> 5] ?? 0) | (1 << (three & 31));
    }
    const hash = hashOf(key);
    this.nexts.push(this.heads[hash] ?? NONE);
    this.firsts.push(lower(candidate.word[0] ?? 0));
    this.heads[hash] = this.candidates.push({ ...candidate, key }) - 1;
  }
}

/** The folds of three bytes in one number; of two where the first or the last may be any. */
function keyOf(first: number, second: number, third: number): number {
  const middle = second << FOLD_BITS;
  const last = third << (2 * FOLD_BITS);
  if (first === ANY) return TAIL | middle | last;
  return third === ANY ? HEAD | first | middle : first | middle | last;
}

function foldsOf(byte: number, anyCase: boolean): readonly number[] {
  if (byte === ANY) return [ANY];
  const isLetter = lower(byte) >= 0x61 && lower(byte) <= 0x7a;
  return anyCase && isLetter ? [byte & FOLD, (byte ^ 0x20) & FOLD] : [byte & FOLD];
}

/** Of very many keywords the beginnings: to try each of them would take longer than a false alarm. */
function shortened(keywords: readonly string[]): readonly string[] {
  if (keywords.length <= KEYWORDS_MAX) return keywords;
  return [...new Set(keywords.map((keyword) => keyword.slice(0, 2)))];
}

export function createGate(rules: readonly Rule[]): Gate {
  const threes = new Threes();
  for (const { keywords, anyCase, edge = false } of rules) {
    for (const keyword of shortened(keywords)) {
      if (!/^[\x20-\x7e]{2,}$/.test(keyword)) return () => false;
      const word = Uint8Array.from(keyword, (unit) => unit.charCodeAt(0));
      threes.add({ word, anyCase, edge });
    }
  }
  return (bytes, start, end) => new KeywordLook(threes, bytes, { start, end }).isClean();
}

/** One look at some bytes. */
class KeywordLook {
  private readonly threes: Threes;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly start: number;
  private readonly end: number;

  constructor(threes: Threes, bytes: Uint8Array, { start, end }: Range) {
    this.threes = threes;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.start = start;
    this.end = Math.min(end, bytes.length);
  }

  isClean(): boolean {
    for (let at = this.marked(this.start); at < this.end; at = this.marked(at + 2)) {
      if (this.hasKeyword(at)) return false;
    }
    return true;
  }

  /** The next place whose three begins or goes on like a keyword; near the end, any place. */
  private marked(from: number): number {
    const { view } = this;
    const { marks } = this.threes;
    // Four bytes at a time, which hold one three and the beginning of the next.
    const stop = this.end - 8;
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

  /** Whether a keyword stands here, or a place before or behind. */
  private hasKeyword(at: number): boolean {
    const { bytes } = this;
    const first = (bytes[at] ?? 0) & FOLD;
    const second = (bytes[at + 1] ?? 0) & FOLD;
    const third = (bytes[at + 2] ?? 0) & FOLD;
    return (
      this.isAmong(keyOf(first, second, third), at) ||
      this.isAmong(keyOf(ANY, second, third), at) ||
      this.isAmong(keyOf(first, second, ANY), at)
    );
  }

  private isAmong(key: number, at: number): boolean {
    const { heads, nexts, firsts, candidates } = this.threes;
    const { bytes } = this;
    const before = lower(bytes[at - 1] ?? 0);
    const here = lower(bytes[at] ?? 0);
    const behind = lower(bytes[at + 1] ?? 0);
    for (let index = heads[hashOf(key)] ?? NONE; index !== NONE; index = nexts[index] ?? NONE) {
      const first = firsts[index];
      if (first !== here && first !== before && first !== behind) continue;
      const candidate = candidates[index];
      if (candidate === undefined || candidate.key !== key) continue;
      const from = at + candidate.shift;
      if (this.isAt(candidate, from) && !(candidate.edge && this.isInWord(from))) return true;
    }
    return false;
  }

  private isAt({ word, anyCase }: Keyword, from: number): boolean {
    const { bytes } = this;
    if (from + word.length > this.end) return false;
    for (let index = 0; index < word.length; index++) {
      const wanted = word[index] ?? 0;
      const byte = bytes[from + index] ?? 0;
      if (byte === wanted) continue;
      if (!anyCase || lower(byte) !== lower(wanted)) return false;
    }
    return true;
  }

  /** Whether a letter or a digit stands before, and no escape that this could be the end of. */
  private isInWord(from: number): boolean {
    const { bytes } = this;
    if (from <= this.start || !isLetterOrDigit(bytes[from - 1] ?? 0)) return false;
    const isEscape =
      bytes[from - 2] === BACKSLASH || bytes[from - 3] === PERCENT || bytes[from - 6] === BACKSLASH;
    return !isEscape;
  }
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;

function isLetterOrDigit(byte: number): boolean {
  const low = lower(byte);
  return (byte >= 0x30 && byte <= 0x39) || (low >= 0x61 && low <= 0x7a);
}

function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

/** A gate that is built when the first bytes come: a start-up should not wait for it. */
export function lazyGate(rules: readonly Rule[]): Gate {
  let gate: Gate | undefined;
  return (bytes, start, end) => {
    gate ??= createGate(rules);
    return gate(bytes, start, end);
  };
}
