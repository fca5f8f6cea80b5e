// Chooses the seeds: runs of six codes, so placed that every piece which is long enough has one.
import type { Form } from './forms.ts';
import { nextKey, SEED_LENGTH } from './probe.ts';
import type { Alphabet, Squeezed } from './squeeze.ts';
import { BREAK, squeeze } from './squeeze.ts';
import type { Range } from './types.ts';

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

interface Draft {
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

export function sow(needles: readonly Needle[], alphabet: Alphabet): Seeds {
  const draft: Draft = {
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
function sowNeedle(draft: Draft, { form, zones, codesMin }: Needle, alphabet: Alphabet): void {
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

function add(draft: Draft, { key, end, least, isWhole, shared }: Seed): void {
  draft.keys.push(key);
  draft.ends.push(draft.length + end);
  draft.leasts.push(least);
  draft.wholes.push(isWhole);
  draft.shared.push(shared);
  draft.perKey.set(key, (draft.perKey.get(key) ?? 0) + 1);
}

function isFull({ perKey }: Draft, key: number): boolean {
  return (perKey.get(key) ?? 0) >= SAME_KEY_MAX;
}

/** A seed where every one may stand, so close that `least` codes in a row hold one. */
function addEverywhere(draft: Draft, { codes, form }: Sown, least: number): void {
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
function addInZones(draft: Draft, { codes, form, zoneOf }: Sown, least: number): void {
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
function addWhole(draft: Draft, { codes, form }: Sown, codesMin: number): void {
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
