// Chooses the seeds: runs of six codes, so placed that every piece which is long enough has one.

import {
  type Alphabet,
  BREAK,
  codeAt,
  hashOf,
  LEAD,
  nextKey,
  type Probe,
  placeFrom,
  placeTo,
  SEED_LENGTH,
  type Squeezed,
  squeeze,
} from '../text/keyword-search.ts';
import type { Range, Scanned } from '../types.ts';
import type { Form } from './encodings.ts';

/** A form of a value to look for by pieces. */
export interface Needle {
  readonly form: Form;
  /** For each place of the value the number of its zone, where a piece tells; else 0. */
  readonly zones: Uint16Array;
  /** The whole form must have as many codes to be looked for. */
  readonly codesMin: number;
}

/** Six codes of a needle in one number. */
interface Seed {
  readonly key: number;
  /** Where it ends in the codes of all needles. */
  readonly end: number;
  /** How many codes a piece must have. */
  readonly least: number;
  /** All codes of a piece count, not only those in a zone. */
  readonly isWhole: boolean;
  readonly shared: boolean;
  /** Another seed of the same bucket. */
  next: Seed | undefined;
}

interface Sowing {
  /** The codes of all needles, with a break around each; and for each code 1 where it is in a zone. */
  readonly codes: Uint8Array[];
  readonly tells: Uint8Array[];
  readonly seeds: Seed[];
  readonly perKey: Map<number, number>;
  length: number;
}

/** A needle as codes. */
interface Sown extends Squeezed {
  readonly form: Form;
  /** The zone of each code, from 1 on. */
  readonly zoneOf: (at: number) => number;
}

/** Fewer codes than this tell nothing. */
export const PIECE_MIN = 8;
/** A whole form is taken for found after so many codes, which bounds the work on hostile text. */
const WHOLE_MAX = 64;
/** More seeds with the same codes add work and find little. */
const SAME_KEY_MAX = 64;
const ZONES_MAX = 65_535;
const BREAKS = Uint8Array.of(BREAK);

/** The number of the zone at each place, from 1 on. */
export function zoneMap(length: number, zones: readonly Range[]): Uint16Array {
  const map = new Uint16Array(length);
  for (const [index, { start, end }] of zones.slice(0, ZONES_MAX).entries()) {
    map.fill(index + 1, start, end);
  }
  return map;
}

/** Seeds the whole form at the beginning of its first run, and its zones all along. */
function sow(sowing: Sowing, { form, zones, codesMin }: Needle, alphabet: Alphabet): void {
  const squeezed = squeeze(alphabet, form.units);
  const { codes, placeOf } = squeezed;
  // Most values are one zone, and where each code comes from need not be asked.
  const isOne = zones.every((zone) => zone === 1);
  const zoneOf = isOne ? () => 1 : (at: number) => zones[form.originOf(placeOf(at))] ?? 0;
  const sown = { ...squeezed, form, zoneOf };
  sowWhole(sowing, sown, codesMin);
  sowZones(sowing, sown);
  sowing.codes.push(codes, BREAKS);
  sowing.tells.push(
    codes.map((_, at) => Number(zoneOf(at) > 0)),
    BREAKS,
  );
  sowing.length += codes.length + 1;
}

function add(sowing: Sowing, { codes, form }: Sown, seed: Omit<Seed, 'key' | 'shared' | 'next'>) {
  const key = keyAt(codes, seed.end);
  const end = sowing.length + seed.end;
  sowing.seeds.push({ ...seed, key, end, shared: form.shared, next: undefined });
  sowing.perKey.set(key, (sowing.perKey.get(key) ?? 0) + 1);
}

function isFull({ perKey }: Sowing, codes: Uint8Array, end: number): boolean {
  return (perKey.get(keyAt(codes, end)) ?? 0) >= SAME_KEY_MAX;
}

function keyAt(codes: Uint8Array, end: number): number {
  let key = 0;
  for (let at = end - SEED_LENGTH + 1; at <= end; at++) key = nextKey(key, codes[at] ?? BREAK);
  return key;
}

/** In each zone, but never over a break, seeds so close that `least` codes in a row hold one. */
function sowZones(sowing: Sowing, sown: Sown): void {
  const { codes, zoneOf } = sown;
  const least = leastIn(sown);
  let [run, zone, next] = [0, 0, 0];
  for (let end = 0; end < codes.length; end++) {
    const here = codes[end] === BREAK ? 0 : zoneOf(end);
    run = here === 0 ? 0 : here === zone ? run + 1 : 1;
    zone = here;
    if (run === SEED_LENGTH) next = end;
    if (run < SEED_LENGTH || end < next) continue;
    next = end + least - SEED_LENGTH + 1;
    if (!isFull(sowing, codes, end)) add(sowing, sown, { end, least, isWhole: false });
  }
}

/** At its beginning, since a cut text shows that; further on when too many begin alike. */
function sowWhole(sowing: Sowing, sown: Sown, codesMin: number): void {
  const { codes } = sown;
  const start = startOfRun(codes, codesMin);
  if (start === undefined) return;
  const broken = codes.indexOf(BREAK, start);
  const least = Math.min(WHOLE_MAX, (broken < 0 ? codes.length : broken) - start);
  const first = start + SEED_LENGTH - 1;
  let end = first;
  while (end < start + least - 1 && isFull(sowing, codes, end)) end++;
  if (isFull(sowing, codes, end)) end = first;
  add(sowing, sown, { end, least, isWhole: true });
}

/** Where the first run of so many codes begins. */
function startOfRun(codes: Uint8Array, lengthMin: number): number | undefined {
  let start = 0;
  for (let broken = codes.indexOf(BREAK); broken >= 0; broken = codes.indexOf(BREAK, start)) {
    if (broken - start >= lengthMin) return start;
    start = broken + 1;
  }
  return codes.length - start >= lengthMin ? start : undefined;
}

/** As many codes as every piece of the form's length has, but never so few that they tell nothing. */
function leastIn({ codes, placeOf, form }: Sown): number {
  const { units, pieceLength } = form;
  if (codes.length === units.length) return pieceLength;
  const placeAt = (at: number) => (at < codes.length ? placeOf(at) : units.length);
  let least = pieceLength;
  let first = 0;
  let behind = 0;
  for (let start = 0; start + pieceLength <= units.length; start++) {
    while (placeAt(first) < start) first++;
    while (placeAt(behind) < start + pieceLength) behind++;
    least = Math.min(least, behind - first);
  }
  return Math.max(PIECE_MIN, least);
}

// Finds pieces of needles: where a seed stands in the text, as much of its needle as stands around it.

/** What a pass over a text needs; `onPiece` gets each piece. */
export type Finder = (task: Scanned, onPiece: (piece: Range) => void) => Probe;

interface Index {
  readonly alphabet: Alphabet;
  readonly codes: Uint8Array;
  readonly tells: Uint8Array;
}

/** A seed that stands in the text with its last code at `at`. */
interface Hit {
  readonly task: Scanned;
  readonly at: number;
  readonly seed: Seed;
  /** Before this place all is found already. */
  readonly doneTo: number;
}

const HASH_BITS_MIN = 14;
const HASH_BITS_MAX = 22;
/** So rare are seeds by chance. */
const MARKS_PER_SEED = 32;
const BITS_PER_BUCKET = 3;

export function createFinder(needles: readonly Needle[], alphabet: Alphabet): Finder {
  const sowing: Sowing = {
    codes: [BREAKS],
    tells: [BREAKS],
    seeds: [],
    perKey: new Map(),
    length: 1,
  };
  for (const needle of needles) sow(sowing, needle, alphabet);
  const { seeds, length } = sowing;
  const wanted = Math.ceil(Math.log2(seeds.length * MARKS_PER_SEED + 1));
  const hashBits = Math.min(HASH_BITS_MAX, Math.max(HASH_BITS_MIN, wanted));
  const mask = (1 << hashBits) - 1;
  const marks = new Uint8Array(1 << hashBits);
  const buckets = new Map<number, Seed>();
  for (const seed of seeds) {
    const hash = hashOf(seed.key, mask);
    marks[hash] = 1;
    seed.next = buckets.get(hash >>> BITS_PER_BUCKET);
    buckets.set(hash >>> BITS_PER_BUCKET, seed);
  }
  const tables = { codes: alphabet, marks, mask };
  const index = {
    alphabet,
    codes: joined(sowing.codes, length),
    tells: joined(sowing.tells, length),
  };
  return (task, onPiece) => {
    let doneTo = 0;
    const onSeed = (key: number, at: number) => {
      if (at < doneTo) return;
      let seed = buckets.get(hashOf(key, mask) >>> BITS_PER_BUCKET);
      for (; seed !== undefined; seed = seed.next) {
        const piece = seed.key === key ? pieceAt(index, { task, at, seed, doneTo }) : undefined;
        if (piece === undefined) continue;
        onPiece(piece);
        doneTo = Math.max(doneTo, piece.end);
      }
    };
    return { tables, onSeed };
  };
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
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

/** The longest piece around a seed, where enough of it tells or the text was cut in it. */
function pieceAt(index: Index, hit: Hit): Range | undefined {
  const { task, at, seed } = hit;
  const { least } = seed;
  const back = walkBack(index, hit);
  if (back.count < SEED_LENGTH) return undefined;
  const { text, truncated } = task;
  const { alphabet, codes } = index;
  let { telling } = back;
  let end = at + 1;
  let needle = seed.end + 1;
  let place = placeFrom(alphabet, text, end);
  for (; place < text.length; needle++) {
    const code = codes[needle] ?? BREAK;
    if (code === BREAK || codeAt(alphabet, text, place) !== code) break;
    if (seed.isWhole || index.tells[needle] === 1) telling++;
    end = place + 1;
    place = placeFrom(alphabet, text, end);
  }
  const isCut = truncated && place >= text.length && codes[needle] !== BREAK;
  if (telling < least && !isCut) return undefined;
  const piece = { start: back.start, end: isCut ? text.length : end };
  return seed.shared ? withNeighbours(alphabet, text, piece) : piece;
}

/** How far the needle reaches to the left of the seed's end; at once back over what is found. */
function walkBack({ alphabet, codes, tells }: Index, hit: Hit) {
  const { text } = hit.task;
  const { isWhole, least } = hit.seed;
  let needle = hit.seed.end;
  let count = 0;
  let telling = 0;
  let start = hit.at;
  for (let place = hit.at; place >= 0; needle--) {
    const code = codes[needle] ?? BREAK;
    if (code === BREAK || codeAt(alphabet, text, place) !== code) break;
    count++;
    if (isWhole || tells[needle] === 1) telling++;
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
