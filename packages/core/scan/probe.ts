// How the last six codes of a text are kept in one number, and looked up in a table.

/** The codes of units, and whether a seed has a hash. */
export interface ProbeTables {
  readonly codes: Uint8Array;
  readonly marks: Uint8Array;
  readonly mask: number;
}

/** What a pass over a text needs to look for seeds. */
export interface Probe {
  readonly tables: ProbeTables;
  /** Told of a seed, or of what looks like one, whose last code stands at `at`. */
  readonly onSeed: (key: number, at: number) => void;
}

export const SEED_LENGTH = 6;

// Numbers, not names, in what runs for every unit: a bundler makes variables of a module's constants,
// and the compiler then reads them anew each time.

/** Six codes; those before them have left the number at its top. */
export function nextKey(key: number, code: number): number {
  return (key << 5) | (code << 2);
}

/** The golden ratio spreads the keys; a constant shift tells the compiler that 22 bits are left. */
export function hashOf(key: number, mask: number): number {
  return (Math.imul(key, 0x9e37_79b1) >>> 10) & mask;
}
