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

export interface Seeds {
  /** The codes of all needles, with a break around each. */
  readonly codes: Uint8Array;
  /** For each code 1 where it is in a zone. */
  readonly tells: Uint8Array;
  /** For each seed: its codes in one number, where it ends, how many codes a piece must have. */
  readonly keys: readonly number[];
  readonly ends: readonly number[];
  readonly leasts: readonly number[];
  /** Whether all codes of a piece count, or only those in a zone. */
  readonly wholes: readonly boolean[];
  readonly shared: readonly boolean[];
}

interface SeedDraft {
  readonly codes: Uint8Array[];
  readonly tells: Uint8Array[];
  readonly keys: number[];
  readonly ends: number[];
  readonly leasts: number[];
  readonly wholes: boolean[];
  readonly shared: boolean[];
  readonly perKey: Map<number, number>;
  length: number;
}

interface Seed {
  readonly key: number;
  readonly end: number;
  readonly least: number;
  readonly isWhole: boolean;
  readonly shared: boolean;
}

/** A needle on its way into the draft. */
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

function sow(needles: readonly Needle[], alphabet: Alphabet): Seeds {
  const draft: SeedDraft = {
    codes: [BREAKS],
    tells: [BREAKS],
    keys: [],
    ends: [],
    leasts: [],
    wholes: [],
    shared: [],
    perKey: new Map(),
    length: 1,
  };
  for (const needle of needles) sowNeedle(draft, needle, alphabet);
  const { keys, ends, leasts, wholes, shared, length } = draft;
  const codes = joined(draft.codes, length);
  return { codes, tells: joined(draft.tells, length), keys, ends, leasts, wholes, shared };
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

/** Seeds the whole form at the beginning of its first run, and its zones all along. */
function sowNeedle(draft: SeedDraft, { form, zones, codesMin }: Needle, alphabet: Alphabet): void {
  const squeezed = squeeze(alphabet, form.units);
  const { codes, placeOf } = squeezed;
  // Most values are one zone, and where each code comes from need not be asked.
  const isOne = zones.every((zone) => zone === 1);
  const zoneOf = (at: number) => zones[form.originOf(placeOf(at))] ?? 0;
  const sown = { ...squeezed, form, zoneOf };
  addWhole(draft, sown, codesMin);
  const tells = new Uint8Array(codes.length);
  if (isOne) tells.fill(1);
  else if (zones.some(Boolean))
    for (let at = 0; at < tells.length; at++) tells[at] = Number(zoneOf(at) > 0);
  const least = leastIn(sown);
  if (isOne && !squeezed.isBroken) addEverywhere(draft, sown, least);
  else if (tells.includes(1)) addInZones(draft, sown, least);
  draft.codes.push(codes, BREAKS);
  draft.tells.push(tells, BREAKS);
  draft.length += codes.length + 1;
}

function add(draft: SeedDraft, { key, end, least, isWhole, shared }: Seed): void {
  draft.keys.push(key);
  draft.ends.push(draft.length + end);
  draft.leasts.push(least);
  draft.wholes.push(isWhole);
  draft.shared.push(shared);
  draft.perKey.set(key, (draft.perKey.get(key) ?? 0) + 1);
}

function isFull({ perKey }: SeedDraft, key: number): boolean {
  return (perKey.get(key) ?? 0) >= SAME_KEY_MAX;
}

/** A seed where every one may stand, so close that `least` codes in a row hold one. */
function addEverywhere(draft: SeedDraft, { codes, form }: Sown, least: number): void {
  const { shared } = form;
  for (let end = SEED_LENGTH - 1; end < codes.length; end += least - SEED_LENGTH + 1) {
    const key = keyAt(codes, end);
    if (!isFull(draft, key)) add(draft, { key, end, least, isWhole: false, shared });
  }
}

function keyAt(codes: Uint8Array, end: number): number {
  let key = 0;
  for (let at = end - SEED_LENGTH + 1; at <= end; at++) key = nextKey(key, codes[at] ?? BREAK);
  return key;
}

/** The same, in the zones only and never over a break. */
function addInZones(draft: SeedDraft, { codes, form, zoneOf }: Sown, least: number): void {
  let [run, zone, next] = [0, 0, 0];
  for (let end = 0; end < codes.length; end++) {
    const here = codes[end] === BREAK ? 0 : zoneOf(end);
    run = here === 0 ? 0 : here === zone ? run + 1 : 1;
    zone = here;
    if (run === SEED_LENGTH) next = end;
    if (run < SEED_LENGTH || end < next) continue;
    next = end + least - SEED_LENGTH + 1;
    const key = keyAt(codes, end);
    if (!isFull(draft, key)) add(draft, { key, end, least, isWhole: false, shared: form.shared });
  }
}

/** At its beginning, since a cut text shows that; further on when too many begin alike. */
function addWhole(draft: SeedDraft, { codes, form }: Sown, codesMin: number): void {
  const start = startOfRun(codes, codesMin);
  if (start === undefined) return;
  const broken = codes.indexOf(BREAK, start);
  const least = Math.min(WHOLE_MAX, (broken < 0 ? codes.length : broken) - start);
  const { shared } = form;
  const first = start + SEED_LENGTH - 1;
  let end = first;
  while (end < start + least - 1 && isFull(draft, keyAt(codes, end))) end++;
  if (isFull(draft, keyAt(codes, end))) end = first;
  add(draft, { key: keyAt(codes, end), end, least, isWhole: true, shared });
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

interface SeedCandidate {
  readonly index: Index;
  readonly task: Scanned;
  readonly key: number;
  readonly at: number;
  readonly doneTo: number;
}

/** Tries every seed with this key; returns the end of what is found so far. */
function hitsAt(candidate: SeedCandidate, onPiece: (piece: Range) => void): number {
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
    if (isTelling(index, seed, needle)) telling++;
    end = place + 1;
    place = placeFrom(alphabet, text, end);
  }
  const isCut = truncated && place >= text.length && codes[needle] !== BREAK;
  if (telling < least && !isCut) return undefined;
  const piece = { start: back.start, end: isCut ? text.length : end };
  return index.shared[seed] === true ? withNeighbours(alphabet, text, piece) : piece;
}

function isTelling(index: Index, seed: number, needle: number): boolean {
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
    if (isTelling(index, hit.seed, needle)) telling++;
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
