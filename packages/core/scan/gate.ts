// A quick look at bytes before they are decoded: whether any keyword stands in them. It reads every
// second place only, three bytes at a time: wherever a keyword begins, one of these threes lies on
// it. Bytes are folded to five bits, which makes letters of both cases the same and the table small.
import type { Rule } from './types.ts';

/** True when no keyword stands there, so that no rule could find anything. */
type Gate = (bytes: Uint8Array, start: number, end: number) => boolean;

interface Candidate {
  readonly word: Uint8Array;
  /** Upper and lower case are the same. */
  readonly anyCase: boolean;
  /** Where it would begin, from the place of the three. */
  readonly shift: -1 | 0 | 1;
}

const FOLD = 0x1f;
const FOLDS = FOLD + 1;
const ANY = -1;

class Threes {
  readonly marks = new Uint8Array(FOLDS ** 3);
  readonly candidates = new Map<number, Candidate[]>();

  /** Adds a keyword for both kinds of places that it can begin at. */
  add(keyword: string, anyCase: boolean): void {
    const word = Uint8Array.from(keyword, (unit) => unit.charCodeAt(0));
    const [first = ANY, second = ANY, third = ANY, fourth = ANY] = word;
    this.#mark([first, second, third], { word, anyCase, shift: 0 });
    if (fourth === ANY) this.#mark([ANY, first, second], { word, anyCase, shift: 1 });
    else this.#mark([second, third, fourth], { word, anyCase, shift: -1 });
  }

  #mark(three: readonly [number, number, number], candidate: Candidate): void {
    const [first, second, third] = three.map(foldsOf);
    for (const a of first ?? []) {
      for (const b of second ?? []) {
        for (const c of third ?? []) this.#note(a | (b << 5) | (c << 10), candidate);
      }
    }
  }

  #note(key: number, candidate: Candidate): void {
    this.marks[key] = 1;
    const known = this.candidates.get(key);
    if (known === undefined) this.candidates.set(key, [candidate]);
    else known.push(candidate);
  }
}

function foldsOf(byte: number): readonly number[] {
  if (byte !== ANY) return [byte & FOLD];
  return Array.from({ length: FOLDS }, (_, fold) => fold);
}

function createGate(rules: readonly Rule[]): Gate {
  const threes = new Threes();
  for (const { keywords, anyCase } of rules) {
    for (const keyword of keywords) {
      if (!/^[\x20-\x7e]{2,}$/.test(keyword)) return () => false;
      threes.add(keyword, anyCase);
    }
  }
  const { marks, candidates } = threes;
  return (bytes, start, end) => {
    for (let at = firstMarked(marks, { bytes, at: start, end }); at < end; at += 2) {
      if (isThere({ bytes, at, end }, candidates.get(keyAt(bytes, at)))) return false;
      at = firstMarked(marks, { bytes, at: at + 2, end }) - 2;
    }
    return true;
  };
}

/** The next place whose three begins or goes on like a keyword; near the end, any place. */
function firstMarked(marks: Uint8Array, { bytes, at: start, end }: Spot): number {
  // Four bytes at a time, which hold one three and the beginning of the next.
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const stop = Math.min(end, bytes.length) - 8;
  let at = start;
  if (at > stop) return at;
  let four = view.getInt32(at, true) & 0x1f1f1f1f;
  for (; at <= stop; at += 4) {
    const next = view.getInt32(at + 4, true) & 0x1f1f1f1f;
    const key = (four & 0x1f) | ((four >> 3) & 0x3e0) | ((four >> 6) & 0x7c00);
    if (marks[key] === 1) return at;
    const later = ((four >> 16) & 0x1f) | ((four >> 19) & 0x3e0) | ((next & 0x1f) << 10);
    if (marks[later] === 1) return at + 2;
    four = next;
  }
  return at;
}

function keyAt(bytes: Uint8Array, at: number): number {
  const first = (bytes[at] ?? 0) & FOLD;
  const second = (bytes[at + 1] ?? 0) & FOLD;
  return first | (second << 5) | (((bytes[at + 2] ?? 0) & FOLD) << 10);
}

interface Spot {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly end: number;
}

function isThere(spot: Spot, candidates: readonly Candidate[] = []): boolean {
  for (const { word, anyCase, shift } of candidates) {
    const from = spot.at + shift;
    if (from + word.length > spot.end) continue;
    if (isWord(spot.bytes, from, { word, anyCase })) return true;
  }
  return false;
}

function isWord(
  bytes: Uint8Array,
  from: number,
  { word, anyCase }: { readonly word: Uint8Array; readonly anyCase: boolean },
): boolean {
  for (let index = 0; index < word.length; index++) {
    const wanted = word[index] ?? 0;
    const byte = bytes[from + index] ?? 0;
    if (byte === wanted) continue;
    if (!anyCase || lower(byte) !== lower(wanted)) return false;
  }
  return true;
}

function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

export type { Gate };
export { createGate };
