// Where a part of a glob fits into a name. By code points: `?` takes a whole emoji, never half of one.

export type Unit =
  | { readonly kind: 'char'; readonly code: number }
  | { readonly kind: 'any' }
  | CharClass;

export interface CharClass {
  readonly kind: 'class';
  readonly negated: boolean;
  /** In order and apart, so that a character is found by halving. */
  readonly ranges: readonly Range[];
}
export type Range = readonly [low: number, high: number];

/** What stands between two stars. */
export interface Segment {
  /** How many code points it takes. */
  readonly length: number;
  /** What has to be looked at: for each unit but `?`, its place and its code or its class. */
  readonly places: readonly number[];
  readonly codes: readonly number[];
  readonly classes: readonly (CharClass | undefined)[];
  /** Set when every unit is a plain character, so that native search can do the work. */
  readonly literal: string | undefined;
}

export const BMP_MAX = 0xffff;
const WORD_BITS = 32;
/** Up to this many comparisons, trying each place is quicker than preparing anything. */
const TRIES_MAX = 8_192;

export function segmentOf(units: readonly Unit[]): Segment {
  const checked = [...units.entries()].filter(([, { kind }]) => kind !== 'any');
  const codes = checked.map(([, unit]) => (unit.kind === 'char' ? unit.code : -1));
  const plain = units.every((unit) => unit.kind === 'char');
  const text = plain ? codes.map((code) => String.fromCodePoint(code)).join('') : '';
  return {
    length: units.length,
    places: checked.map(([place]) => place),
    codes,
    classes: checked.map(([, unit]) => (unit.kind === 'class' ? unit : undefined)),
    // Half of a pair in a glob would be found inside of whole ones.
    literal: plain && !/\p{Cs}/u.test(text) ? text : undefined,
  };
}

export function classOf(negated: boolean, ranges: readonly Range[]): CharClass {
  const merged: [number, number][] = [];
  for (const [low, high] of ranges.toSorted((one, other) => one[0] - other[0])) {
    const last = merged.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else merged.push([low, high]);
  }
  return { kind: 'class', negated, ranges: merged };
}

/** Whether a segment fits at a place from where it does not reach beyond the end. */
export function fitsAt(part: Segment, codes: readonly number[], at: number): boolean {
  const { places, codes: wanted, classes } = part;
  // A plain loop: this one runs for every place in every name.
  for (let index = 0; index < places.length; index++) {
    const code = codes[at + (places[index] ?? 0)] ?? 0;
    if (wanted[index] === code) continue;
    const chars = classes[index];
    if (chars === undefined || !fitsClass(chars, code)) return false;
  }
  return true;
}

function fitsClass({ ranges, negated }: CharClass, code: number): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = ranges[middle] ?? [0, -1];
    if (code < first) high = middle - 1;
    else if (code > last) low = middle + 1;
    else return !negated;
  }
  return negated;
}

/** The first place between `from` and `to` where a segment fits as a whole; -1 if there is none. */
export function findFrom(
  part: Segment,
  codes: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): number {
  const tries = to - from - part.length + 1;
  if (tries * part.places.length > TRIES_MAX) return findByBits(part, codes, { from, to });
  for (let index = from; index < from + tries; index++) {
    if (fitsAt(part, codes, index)) return index;
  }
  return -1;
}

/**
 * Baeza-Yates and Gonnet's search: one bit per unit tells whether the segment fits up to there, and
 * each character moves all of them at once. Long globs over long names would take seconds without.
 */
function findByBits(
  part: Segment,
  codes: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): number {
  const words = Math.ceil(part.length / WORD_BITS);
  const maskOf = masksOf(part, words);
  const state = new Int32Array(words);
  const lastBit = 1 << ((part.length - 1) % WORD_BITS);
  for (let index = from; index < to; index++) {
    const mask = maskOf(codes[index] ?? 0);
    let carry = 1;
    for (let word = 0; word < words; word++) {
      const bits = state[word] ?? 0;
      state[word] = ((bits << 1) | carry) & (mask[word] ?? 0);
      carry = bits >>> (WORD_BITS - 1);
    }
    if (((state[words - 1] ?? 0) & lastBit) !== 0) return index - part.length + 1;
  }
  return -1;
}

/** For a character, the units that it fits, as bits. */
function masksOf(part: Segment, words: number): (code: number) => Int32Array {
  const anyBits = new Int32Array(words).fill(-1);
  const byCode = new Map<number, number[]>();
  const byClass = new Map<CharClass, Int32Array>();
  for (const [index, place] of part.places.entries()) {
    clearBit(anyBits, place);
    const chars = part.classes[index];
    if (chars === undefined) add(byCode, part.codes[index] ?? -1, place);
    else {
      const bits = byClass.get(chars) ?? new Int32Array(words);
      setBit(bits, place);
      byClass.set(chars, bits);
    }
  }
  const known = new Map<number, Int32Array>();
  return (code) => {
    const seen = known.get(code);
    if (seen !== undefined) return seen;
    const mask = Int32Array.from(anyBits);
    for (const place of byCode.get(code) ?? []) setBit(mask, place);
    for (const [chars, bits] of byClass) if (fitsClass(chars, code)) setAll(mask, bits);
    known.set(code, mask);
    return mask;
  };
}

function add(map: Map<number, number[]>, code: number, place: number): void {
  const places = map.get(code);
  if (places === undefined) map.set(code, [place]);
  else places.push(place);
}

function setBit(bits: Int32Array, place: number): void {
  const word = Math.floor(place / WORD_BITS);
  bits[word] = (bits[word] ?? 0) | (1 << (place % WORD_BITS));
}

function clearBit(bits: Int32Array, place: number): void {
  const word = Math.floor(place / WORD_BITS);
  bits[word] = (bits[word] ?? 0) & ~(1 << (place % WORD_BITS));
}

function setAll(bits: Int32Array, others: Int32Array): void {
  for (let word = 0; word < bits.length; word++) {
    bits[word] = (bits[word] ?? 0) | (others[word] ?? 0);
  }
}

export function codePoints(text: string): readonly number[] {
  const codes: number[] = [];
  for (let index = 0; index < text.length; index++) {
    const code = text.codePointAt(index) ?? 0;
    codes.push(code);
    if (code > BMP_MAX) index++;
  }
  return codes;
}
