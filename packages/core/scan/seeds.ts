// Chooses the seeds: runs of six codes, so placed that every piece which is long enough has one.
import type { Form } from './forms.ts';
import { nextKey, SEED_LENGTH } from './probe.ts';
import type { Alphabet } from './squeeze.ts';
import { BREAK, squeeze } from './squeeze.ts';
import type { Range } from './types.ts';

/** A form of a value to look for by pieces. */
interface Needle {
  readonly form: Form;
  /** For each place of the value the number of its zone, where a piece tells; else 0. */
  readonly zones: Uint16Array;
  /** The whole form must have as many codes to be looked for. */
  readonly codesMin: number;
}

interface Seeds {
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
  readonly codes: number[];
  readonly tells: number[];
  readonly wholes: boolean[];
  readonly keys: number[];
  readonly ends: number[];
  readonly leasts: number[];
  readonly shared: boolean[];
  readonly perKey: Map<number, number>;
}

/** Fewer codes than this tell nothing. */
const PIECE_MIN = 8;
/** A whole form is taken for found after so many codes, which bounds the work on hostile text. */
const WHOLE_MAX = 64;
/** More seeds with the same codes add work and find little. */
const SAME_KEY_MAX = 64;
const ZONES_MAX = 65_535;

/** The number of the zone at each place, from 1 on. */
function zoneMap(length: number, zones: readonly Range[]): Uint16Array {
  const map = new Uint16Array(length);
  for (const [index, { start, end }] of zones.slice(0, ZONES_MAX).entries()) {
    map.fill(index + 1, start, end);
  }
  return map;
}

function sow(needles: readonly Needle[], alphabet: Alphabet): Seeds {
  const draft: Draft = {
    codes: [BREAK],
    tells: [0],
    wholes: [],
    keys: [],
    ends: [],
    leasts: [],
    shared: [],
    perKey: new Map(),
  };
  for (const needle of needles) sowNeedle(draft, needle, alphabet);
  const { codes, tells } = draft;
  return { ...draft, codes: Uint8Array.from(codes), tells: Uint8Array.from(tells) };
}

/** Seeds the whole form at the beginning of its first run, and its zones all along. */
function sowNeedle(draft: Draft, needle: Needle, alphabet: Alphabet): void {
  const { form, zones, codesMin } = needle;
  const { codes, places } = squeeze(alphabet, form.units);
  const base = draft.codes.length;
  // Most values are one zone, and where each code comes from need not be asked.
  const isOne = zones.every((zone) => zone === 1);
  const zoneOf = (at: number) => (isOne ? 1 : (zones[form.originOf(places[at] ?? 0)] ?? 0));
  const stride = leastIn(form, places) - SEED_LENGTH + 1;
  let [key, run, next, isWholeDone] = [0, 0, 0, false];
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? BREAK;
    const zone = zoneOf(at);
    draft.codes.push(code);
    draft.tells.push(zone === 0 ? 0 : 1);
    key = nextKey(key, code);
    run = code === BREAK ? 0 : run + 1;
    if (run === codesMin && !isWholeDone) {
      addWhole(draft, form, { start: base + at + 1 - run, codes, from: at + 1 - run });
      isWholeDone = true;
    }
    if (run < SEED_LENGTH) continue;
    const first = zoneOf(at - SEED_LENGTH + 1);
    // Outside a zone nothing is due, so that the next zone begins with a seed.
    if (zone === 0 || zone !== first || run === SEED_LENGTH) next = at;
    if (zone === 0 || zone !== first || at < next) continue;
    next = at + stride;
    if ((draft.perKey.get(key) ?? 0) >= SAME_KEY_MAX) continue;
    const least = stride + SEED_LENGTH - 1;
    add(draft, { key, end: base + at, least, isWhole: false, shared: form.shared });
  }
  draft.codes.push(BREAK);
  draft.tells.push(0);
}

interface Seed {
  readonly key: number;
  readonly end: number;
  readonly least: number;
  readonly isWhole: boolean;
  readonly shared: boolean;
}

function add(draft: Draft, { key, end, least, isWhole, shared }: Seed): void {
  draft.keys.push(key);
  draft.ends.push(end);
  draft.leasts.push(least);
  draft.wholes.push(isWhole);
  draft.shared.push(shared);
  draft.perKey.set(key, (draft.perKey.get(key) ?? 0) + 1);
}

interface Run {
  readonly codes: readonly number[];
  /** Where the run begins among these codes, and in the draft. */
  readonly from: number;
  readonly start: number;
}

/** At its beginning, since a cut text shows that; further on when too many begin alike. */
function addWhole(draft: Draft, { shared }: Form, { codes, from, start }: Run): void {
  const broken = codes.indexOf(BREAK, from);
  const length = Math.min(WHOLE_MAX, (broken < 0 ? codes.length : broken) - from);
  let key = 0;
  let chosen: Seed | undefined;
  for (let at = 0; at < length; at++) {
    key = nextKey(key, codes[from + at] ?? BREAK);
    if (at < SEED_LENGTH - 1) continue;
    const isFree = (draft.perKey.get(key) ?? 0) < SAME_KEY_MAX;
    if (chosen === undefined || isFree) {
      chosen = { key, end: start + at, least: length, isWhole: true, shared };
    }
    if (isFree) break;
  }
  if (chosen !== undefined) add(draft, chosen);
}

/** As many codes as every piece of the form's length has, but never so few that they tell nothing. */
function leastIn({ units, pieceLength }: Form, places: readonly number[]): number {
  if (places.length === units.length) return pieceLength;
  let least = pieceLength;
  let first = 0;
  let behind = 0;
  for (let start = 0; start + pieceLength <= units.length; start++) {
    while ((places[first] ?? units.length) < start) first++;
    while ((places[behind] ?? units.length) < start + pieceLength) behind++;
    least = Math.min(least, behind - first);
  }
  return Math.max(PIECE_MIN, least);
}

export type { Needle, Seeds };
export { PIECE_MIN, sow, zoneMap };
