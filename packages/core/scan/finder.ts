// Finds pieces of needles: where a seed stands in the text, as much of its needle as stands around it.
import type { Probe } from './probe.ts';
import { hashOf, nextKey, SEED_LENGTH } from './probe.ts';
import type { Needle, Seeds } from './seeds.ts';
import { sow } from './seeds.ts';
import type { Alphabet } from './squeeze.ts';
import { BREAK, codeAt, LEAD, placeFrom, placeTo } from './squeeze.ts';
import type { Range, Scanned } from './types.ts';

export interface Finder {
  /** What a pass over the text needs; `onPiece` gets each piece. */
  readonly probe: (task: Scanned, onPiece: (piece: Range) => void) => Probe;
}

interface Index extends Seeds {
  readonly alphabet: Alphabet;
  /** Set for each hash that a seed has. */
  readonly marks: Uint8Array;
  readonly mask: number;
  /** The first seed of each bucket, and the next of the same bucket; -1 ends. */
  readonly heads: Int32Array;
  readonly nexts: Int32Array;
}

/** A seed that stands in the text with its last code at `at`. */
interface Hit {
  readonly task: Scanned;
  readonly at: number;
  readonly seed: number;
  /** Before this place all is found already. */
  readonly doneTo: number;
}

const HASH_BITS_MIN = 14;
const HASH_BITS_MAX = 22;
/** So rare are seeds by chance. */
const MARKS_PER_SEED = 32;
const BITS_PER_BUCKET = 3;

function indexOf(seeds: Seeds, alphabet: Alphabet): Index {
  const { keys } = seeds;
  const wanted = Math.ceil(Math.log2(keys.length * MARKS_PER_SEED + 1));
  const hashBits = Math.min(HASH_BITS_MAX, Math.max(HASH_BITS_MIN, wanted));
  const mask = (1 << hashBits) - 1;
  const marks = new Uint8Array(1 << hashBits);
  const heads = new Int32Array(1 << (hashBits - BITS_PER_BUCKET)).fill(-1);
  const nexts = new Int32Array(keys.length).fill(-1);
  for (const [seed, key] of keys.entries()) {
    const hash = hashOf(key, mask);
    marks[hash] = 1;
    const bucket = hash >>> BITS_PER_BUCKET;
    nexts[seed] = heads[bucket] ?? -1;
    heads[bucket] = seed;
  }
  return { ...seeds, alphabet, marks, mask, heads, nexts };
}

export function createFinder(needles: readonly Needle[], alphabet: Alphabet): Finder {
  const index = indexOf(sow(needles, alphabet), alphabet);
  const tables = { codes: alphabet.codes, marks: index.marks, mask: index.mask };
  return {
    probe(task, onPiece) {
      let doneTo = 0;
      const onSeed = (key: number, at: number) => {
        if (at >= doneTo) doneTo = hitsAt({ index, task, key, at, doneTo }, onPiece);
      };
      return { tables, onSeed };
    },
  };
}

/** A pass of its own, where every unit counts. */
export function scanUnits(text: string, { tables, onSeed }: Probe): void {
  const { codes, marks, mask } = tables;
  let key = 0;
  for (let at = 0; at < text.length; at++) {
    key = nextKey(key, codes[text.charCodeAt(at) & 0xff] ?? 0);
    if (marks[hashOf(key, mask)] !== 0) onSeed(key, at);
  }
}

interface Candidate {
  readonly index: Index;
  readonly task: Scanned;
  readonly key: number;
  readonly at: number;
  readonly doneTo: number;
}

/** Tries every seed with this key; returns the end of what is found so far. */
function hitsAt(candidate: Candidate, onPiece: (piece: Range) => void): number {
  const { index, task, key, at } = candidate;
  let { doneTo } = candidate;
  const bucket = hashOf(key, index.mask) >>> BITS_PER_BUCKET;
  for (let seed = index.heads[bucket] ?? -1; seed >= 0; seed = index.nexts[seed] ?? -1) {
    if (index.keys[seed] !== key) continue;
    const piece = pieceAt(index, { task, at, seed, doneTo });
    if (piece === undefined) continue;
    onPiece(piece);
    doneTo = Math.max(doneTo, piece.end);
  }
  return doneTo;
}

/** The longest piece around a seed, where enough of it tells or the text was cut in it. */
function pieceAt(index: Index, hit: Hit): Range | undefined {
  const { task, at, seed } = hit;
  const least = index.leasts[seed] ?? 0;
  const back = walkBack(index, hit, least);
  if (back.count < SEED_LENGTH) return undefined;
  const { text, truncated } = task;
  const { alphabet, codes } = index;
  let { telling } = back;
  let end = at + 1;
  let needle = (index.ends[seed] ?? 0) + 1;
  let place = placeFrom(alphabet, text, end);
  for (; place < text.length; needle++) {
    const code = codes[needle] ?? BREAK;
    if (code === BREAK || codeAt(alphabet, text, place) !== code) break;
    if (tells(index, seed, needle)) telling++;
    end = place + 1;
    place = placeFrom(alphabet, text, end);
  }
  const isCut = truncated && place >= text.length && codes[needle] !== BREAK;
  if (telling < least && !isCut) return undefined;
  const piece = { start: back.start, end: isCut ? text.length : end };
  return index.shared[seed] === true ? withNeighbours(alphabet, text, piece) : piece;
}

function tells(index: Index, seed: number, needle: number): boolean {
  return index.wholes[seed] === true || index.tells[needle] === 1;
}

interface Walked {
  readonly start: number;
  readonly count: number;
  readonly telling: number;
}

/** How far the needle reaches to the left of the seed's end; at once back over what is found. */
function walkBack(index: Index, hit: Hit, least: number): Walked {
  const { alphabet, codes, ends } = index;
  const { text } = hit.task;
  let needle = ends[hit.seed] ?? 0;
  let count = 0;
  let telling = 0;
  let start = hit.at;
  for (let place = hit.at; place >= 0; needle--) {
    const code = codes[needle] ?? BREAK;
    if (code === BREAK || codeAt(alphabet, text, place) !== code) break;
    count++;
    if (tells(index, hit.seed, needle)) telling++;
    start = place;
    if (telling >= least && place < hit.doneTo) break;
    place = placeTo(alphabet, text, place - 1);
  }
  return { start, count, telling };
}

/** A digit on either side holds bits of the value as well. */
function withNeighbours(alphabet: Alphabet, text: string, { start, end }: Range): Range {
  const isDigit = (place: number) => {
    const char = text[place] ?? ' ';
    const code = codeAt(alphabet, text, place);
    return (BREAK < code && code < LEAD) || '+/-_'.includes(char);
  };
  return {
    start: start > 0 && isDigit(start - 1) ? start - 1 : start,
    end: end < text.length && isDigit(end) ? end + 1 : end,
  };
}
