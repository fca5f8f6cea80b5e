// Globs over server and tool names. Unlike path globs, `*` matches every character, `/` and a
// leading `.` included: a deny on `*` must not be escaped by a tool called `.x/y`.

export type NameTest = (name: string) => boolean;
export type GlobResult = { readonly ok: true; readonly test: NameTest } | GlobError;
export interface GlobError {
  readonly ok: false;
  readonly message: string;
  readonly offset: number;
}

const BMP_MAX = 0xffff;
const DASH = 0x2d;
const ALTERNATIVES_MAX = 64;
/** In all alternatives together; each is tried by itself, so this bounds the time of a test. */
const UNITS_MAX = 4_096;
/** Different ones: every letter in both cases is 26. */
const CLASSES_MAX = 32;

/** The source of each class, however often it is written. */
type Classes = Map<string, string>;

/** What stands between two stars. */
interface Segment {
  /** How many code points it takes: `?` takes a whole emoji, never half of one. */
  readonly length: number;
  /** A regular expression of that length, so that no search can backtrack. */
  readonly source: string;
  /** Set when every unit is a plain character. */
  readonly literal: string | undefined;
}

/** Compiles one glob: `*`, `?`, `[a-z]`, `[!a-z]`, `{one,two}`, and `\` before a literal. */
export function compileGlob(glob: string, { ignoresCase = false } = {}): GlobResult {
  const parts = splitBraces(glob);
  if (!Array.isArray(parts)) return parts;
  const tests: NameTest[] = [];
  const classes: Classes = new Map();
  let units = 0;
  for (const pieces of alternativesOf(parts)) {
    const segments = parseSegments(pieces.map(({ text }) => text).join(''), classes);
    if (!Array.isArray(segments)) {
      return { ...segments, offset: sourceOffset(pieces, segments.offset) };
    }
    units += segments.reduce((sum, { length }) => sum + length, 0);
    if (tests.length > 0 && units > UNITS_MAX) {
      return fail(`more than ${UNITS_MAX} characters in all its alternatives`, 0);
    }
    tests.push(ignoresCase ? searchTest(segments, 'i') : segmentsTest(segments));
  }
  const [only] = tests;
  if (tests.length === 1 && only !== undefined) return { ok: true, test: only };
  return { ok: true, test: (name) => tests.some((test) => test(name)) };
}

/** A glob with its braces written out: every alternative is a glob without braces. */
export function globAlternatives(glob: string): string[] | GlobError {
  const parts = splitBraces(glob);
  if (!Array.isArray(parts)) return parts;
  return alternativesOf(parts).map((pieces) => pieces.map(({ text }) => text).join(''));
}

/** The same glob in one spelling: runs of stars mean one star. */
export function normalizeGlob(glob: string): string {
  return glob.replace(/\\[\s\S]|\*+/g, (part) => (part.startsWith('*') ? '*' : part));
}

/** A stretch of the glob, and where it starts. */
interface GlobPiece {
  readonly text: string;
  readonly start: number;
}

/** What stands outside of braces as one choice, what stands inside as several. */
function splitBraces(glob: string): (readonly GlobPiece[])[] | GlobError {
  const parts: (readonly GlobPiece[])[] = [];
  let alternatives = 1;
  let start = 0;
  let index = 0;
  while (index < glob.length) {
    const char = glob[index] ?? '';
    if (char === '}') return fail('a `}` without its `{`', index);
    if (char !== '{') {
      const end = char === '\\' ? index + 2 : char === '[' ? classEnd(glob, index) : index + 1;
      index = Math.max(end, index + 1);
      continue;
    }
    const close = closingBrace(glob, index);
    if (typeof close !== 'number') return close;
    const options = splitOptions(glob, index + 1, close);
    alternatives *= options.length;
    if (alternatives > ALTERNATIVES_MAX) {
      return fail(`more than ${ALTERNATIVES_MAX} alternatives`, index);
    }
    parts.push([{ text: glob.slice(start, index), start }], options);
    index = close + 1;
    start = index;
  }
  return [...parts, [{ text: glob.slice(start), start }]];
}

/** Every way to choose one piece of each part. */
function alternativesOf(
  parts: readonly (readonly GlobPiece[])[],
): readonly (readonly GlobPiece[])[] {
  return parts.reduce<readonly (readonly GlobPiece[])[]>(
    (chosen, options) => chosen.flatMap((pieces) => options.map((option) => [...pieces, option])),
    [[]],
  );
}

/** Where a place of one alternative stands in the glob as written. */
function sourceOffset(pieces: readonly GlobPiece[], offset: number): number {
  let rest = offset;
  for (const { text, start } of pieces) {
    if (rest < text.length) return start + rest;
    rest -= text.length;
  }
  const last = pieces.at(-1);
  return last === undefined ? 0 : last.start + last.text.length;
}

function closingBrace(glob: string, start: number): number | GlobError {
  for (let index = start + 1; index < glob.length; index++) {
    const char = glob[index];
    if (char === '\\') index++;
    else if (char === '{') return fail('braces inside braces', index);
    else if (char === '}') return index;
  }
  return fail('a `{` without its `}`', start);
}

function splitOptions(glob: string, from: number, to: number): readonly GlobPiece[] {
  const options: GlobPiece[] = [];
  let start = from;
  for (let index = from; index < to; index++) {
    const char = glob[index];
    if (char === '\\') index++;
    else if (char === ',') {
      options.push({ text: glob.slice(start, index), start });
      start = index + 1;
    }
  }
  return [...options, { text: glob.slice(start, to), start }];
}

/** The index behind a class that opens at `start`; the end of the glob when it never closes. */
function classEnd(glob: string, start: number): number {
  let index = start + 1;
  if (glob[index] === '!' || glob[index] === '^') index++;
  if (glob[index] === ']') index++;
  const close = glob.indexOf(']', index);
  return close === -1 ? glob.length : close + 1;
}

function parseSegments(glob: string, known: Classes): Segment[] | GlobError {
  const segments: Segment[] = [];
  let units: string[] = [];
  let literal: string | undefined = '';
  const endSegment = () => {
    segments.push({ length: units.length, source: units.join(''), literal });
    units = [];
    literal = '';
  };
  for (let index = 0; index < glob.length; index++) {
    const char = glob[index] ?? '';
    if (char === '*') {
      endSegment();
    } else if (char === '?') {
      units.push('[^]');
      literal = undefined;
    } else if (char === '[') {
      const end = classEnd(glob, index);
      const text = glob.slice(index, end);
      const parsed = known.get(text) ?? parseClass(text);
      if (typeof parsed !== 'string') return fail(parsed.problem, index);
      known.set(text, parsed);
      if (known.size > CLASSES_MAX)
        return fail(`more than ${CLASSES_MAX} different classes`, index);
      units.push(parsed);
      literal = undefined;
      index = end - 1;
    } else {
      if (char === '\\') index++;
      const code = glob.codePointAt(index);
      if (code === undefined) return fail('a `\\` with nothing behind it', index - 1);
      units.push(escaped(code));
      // Half of a pair in a glob would be found inside of whole ones.
      const isHalf = code >= 0xd800 && code <= 0xdfff;
      literal = literal === undefined || isHalf ? undefined : literal + String.fromCodePoint(code);
      if (code > BMP_MAX) index++;
    }
  }
  endSegment();
  return segments;
}

function escaped(code: number): string {
  return `\\u{${code.toString(16)}}`;
}

/** The source of a class, or what is wrong with it. */
function parseClass(text: string): string | { readonly problem: string } {
  if (!text.endsWith(']') || text.length < 3) return { problem: 'a `[` without its `]`' };
  const negated = text[1] === '!' || text[1] === '^';
  const body = Array.from(text.slice(negated ? 2 : 1, -1), (char) => char.codePointAt(0) ?? 0);
  let source = '';
  for (let index = 0; index < body.length; index++) {
    const low = body[index] ?? 0;
    const high = body[index + 2];
    if (body[index + 1] === DASH && high !== undefined) {
      if (high < low) {
        const range = String.fromCodePoint(low, DASH, high);
        return { problem: `a range that runs backwards, \`${range}\`` };
      }
      source += `${escaped(low)}-${escaped(high)}`;
      index += 2;
    } else source += escaped(low);
  }
  if (source === '') return { problem: 'a `[` without its `]`' };
  return `[${negated ? '^' : ''}${source}]`;
}

function segmentsTest(segments: readonly Segment[]): NameTest {
  const literals = segments.flatMap(({ literal }) => (literal === undefined ? [] : [literal]));
  return literals.length === segments.length ? literalsTest(literals) : searchTest(segments, '');
}

/**
 * Leftmost-first search for each segment is exact for globs, and never goes back to one before. The flag
 * `i` folds both ends of a range: in lower case, `[A-_]` would run backwards.
 */
function searchTest(segments: readonly Segment[], flag: '' | 'i'): NameTest {
  const last = segments.length - 1;
  const searches = segments.map(({ source }, index) => {
    const flags = `u${index === 0 ? 'y' : 'g'}${flag}`;
    return new RegExp(index === last ? `${source}$` : source, flags);
  });
  return (name) => {
    let position = 0;
    for (const search of searches) {
      search.lastIndex = position;
      if (!search.test(name)) return false;
      position = search.lastIndex;
    }
    return true;
  };
}

/** Only stars and plain text, as nearly all globs are. */
function literalsTest(literals: readonly string[]): NameTest {
  const [first = '', ...rest] = literals;
  const last = rest.pop();
  if (last === undefined) return (name) => name === first;
  const lengthMin = literals.reduce((sum, { length }) => sum + length, 0);
  return (name) => {
    if (name.length < lengthMin || !name.startsWith(first) || !name.endsWith(last)) return false;
    let position = first.length;
    for (const part of rest) {
      const found = name.indexOf(part, position);
      if (found === -1) return false;
      position = found + part.length;
    }
    return position <= name.length - last.length;
  };
}

function fail(message: string, offset: number): GlobError {
  return { ok: false, message, offset };
}
