// How a unit of text is read when pieces are looked for. Between letters and digits everything is
// passed over, except what encloses: a piece never reaches out of a JSON string or a bracket.

export interface Alphabet {
  /** The code of each unit, by its lower byte, or one of the marks below. */
  readonly codes: Uint8Array;
}

export interface Squeezed {
  readonly codes: Uint8Array;
  /** Where each code's unit stands. */
  readonly placeOf: (at: number) => number;
  /** Whether some codes end pieces. */
  readonly isBroken: boolean;
}

/** Ends a piece. */
export const BREAK = 0;
/** Codes from here on are passed over: `%` and `&`, the backslash, and the rest. */
export const LEAD = 253;
export const BACKSLASH = 254;
const SKIP = 255;

const isUpper = (unit: number) => unit >= 0x41 && unit <= 0x5a;
const lower = (unit: number) => (isUpper(unit) ? unit + 0x20 : unit);

function plainCode(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x2f;
  const letter = lower(unit);
  if (letter >= 0x61 && letter <= 0x7a) return letter - 0x56;
  if (unit >= 0x80) return SKIP;
  const char = String.fromCharCode(unit);
  if (char === '\\') return BACKSLASH;
  if (char === '%' || char === '&') return LEAD;
  return '"\'`[]{}()<>'.includes(char) ? BREAK : SKIP;
}

/** Letters and digits, upper and lower case alike. */
export const LETTERS: Alphabet = {
  codes: Uint8Array.from({ length: 256 }, (_, unit) => plainCode(unit)),
};

/** Every unit counts, for values with many signs; upper and lower case alike. */
export const UNITS: Alphabet = {
  codes: Uint8Array.from({ length: 256 }, (_, unit) => {
    const low = lower(unit);
    return low === BREAK || low >= LEAD ? 1 : low;
  }),
};

export function codeAt({ codes }: Alphabet, text: string, at: number): number {
  return codes[text.charCodeAt(at) & 0xff] ?? SKIP;
}

/** The letter of `\n`, `\r`, `\t`, `\b` and `\f` is no letter of the text. */
export function isEscapeLetter(unit: number): boolean {
  return unit === 0x6e || unit === 0x72 || unit === 0x74 || unit === 0x62 || unit === 0x66;
}

/** The next place with a code that counts, or the text's end. */
export function placeFrom(alphabet: Alphabet, text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = codeAt(alphabet, text, at);
    if (code < LEAD) return at;
    if (code === BACKSLASH && isEscapeLetter(text.charCodeAt(at + 1))) at++;
  }
  return text.length;
}

/** The last place with a code that counts, or -1. */
export function placeTo(alphabet: Alphabet, text: string, to: number): number {
  const hasEscapes = alphabet === LETTERS;
  for (let at = to; at >= 0; at--) {
    if (codeAt(alphabet, text, at) >= LEAD) continue;
    const escaped = hasEscapes && text[at - 1] === '\\' && isEscapeLetter(text.charCodeAt(at));
    if (!escaped) return at;
  }
  return -1;
}

/** The codes that count, and where each stands. */
export function squeeze({ codes }: Alphabet, units: ArrayLike<number>): Squeezed {
  const kept = new Uint8Array(units.length);
  // Most forms have nothing to pass over, and need no places.
  let places: Int32Array | undefined;
  let count = 0;
  let before = 0;
  let isBroken = false;
  for (let at = 0; at < units.length; at++) {
    const unit = units[at] ?? 0;
    const code = codes[unit & 0xff] ?? SKIP;
    const isPassed = code >= LEAD || (before === BACKSLASH && isEscapeLetter(unit));
    before = code;
    if (isPassed) {
      places ??= Int32Array.from({ length: units.length }, (_, place) => place);
      continue;
    }
    if (code === BREAK) isBroken = true;
    if (places !== undefined) places[count] = at;
    kept[count++] = code;
  }
  const placeOf = (at: number) => (places === undefined ? at : (places[at] ?? 0));
  return { codes: kept.subarray(0, count), placeOf, isBroken };
}
