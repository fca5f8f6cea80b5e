// Globs over server and tool names. Unlike path globs, `*` matches every character, `/` and a
// leading `.` included: a deny on `*` must not be escaped by a tool called `.x/y`.

type Unit = { readonly kind: 'char'; readonly char: string } | { readonly kind: 'any' } | CharClass;

interface CharClass {
  readonly kind: 'class';
  readonly negated: boolean;
  readonly ranges: readonly (readonly [string, string])[];
}

/** What stands between two stars. */
interface Segment {
  readonly units: readonly Unit[];
  /** Set when every unit is a plain character, so that native search can do the work. */
  readonly literal: string | undefined;
}

type NameTest = (name: string) => boolean;
type GlobResult = { readonly ok: true; readonly test: NameTest } | GlobError;
interface GlobError {
  readonly ok: false;
  readonly message: string;
  readonly offset: number;
}

const ALTERNATIVES_MAX = 64;

/** Compiles one glob: `*`, `?`, `[a-z]`, `[!a-z]`, `{one,two}`, and `\` before a literal. */
function compileGlob(glob: string): GlobResult {
  const expanded = expandBraces(glob);
  if (!Array.isArray(expanded)) return expanded;
  const tests: NameTest[] = [];
  for (const alternative of expanded) {
    const segments = parseSegments(alternative);
    if (!Array.isArray(segments))
      return { ...segments, offset: Math.min(segments.offset, glob.length) };
    tests.push(segmentsTest(segments));
  }
  const [only] = tests;
  if (tests.length === 1 && only !== undefined) return { ok: true, test: only };
  return { ok: true, test: (name) => tests.some((test) => test(name)) };
}

/** The same glob in one spelling: runs of stars mean one star. */
function normalizeGlob(glob: string): string {
  return glob.replace(/\\[\s\S]|\*+/g, (part) => (part.startsWith('*') ? '*' : part));
}

function expandBraces(glob: string): string[] | GlobError {
  let expanded = [''];
  let index = 0;
  while (index < glob.length) {
    const char = glob[index] ?? '';
    if (char === '}') return fail('a `}` without its `{`', index);
    if (char !== '{') {
      const end = char === '\\' ? index + 2 : char === '[' ? classEnd(glob, index) : index + 1;
      const piece = glob.slice(index, end);
      expanded = expanded.map((prefix) => prefix + piece);
      index = Math.max(end, index + 1);
      continue;
    }
    const close = closingBrace(glob, index);
    if (typeof close !== 'number') return close;
    const options = splitOptions(glob.slice(index + 1, close));
    if (expanded.length * options.length > ALTERNATIVES_MAX) {
      return fail(`more than ${ALTERNATIVES_MAX} alternatives`, index);
    }
    expanded = expanded.flatMap((prefix) => options.map((option) => prefix + option));
    index = close + 1;
  }
  return expanded;
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

function splitOptions(body: string): string[] {
  const options: string[] = [];
  let current = '';
  for (let index = 0; index < body.length; index++) {
    const char = body[index] ?? '';
    if (char === '\\') current += char + (body[++index] ?? '');
    else if (char === ',') {
      options.push(current);
      current = '';
    } else current += char;
  }
  return [...options, current];
}

/** The index behind a class that opens at `start`; the end of the glob when it never closes. */
function classEnd(glob: string, start: number): number {
  let index = start + 1;
  if (glob[index] === '!' || glob[index] === '^') index++;
  if (glob[index] === ']') index++;
  const close = glob.indexOf(']', index);
  return close === -1 ? glob.length : close + 1;
}

function parseSegments(glob: string): Segment[] | GlobError {
  const segments: Segment[] = [];
  let units: Unit[] = [];
  for (let index = 0; index < glob.length; index++) {
    const char = glob[index] ?? '';
    if (char === '*') {
      segments.push(segment(units));
      units = [];
    } else if (char === '?') units.push({ kind: 'any' });
    else if (char === '[') {
      const end = classEnd(glob, index);
      const parsed = parseClass(glob.slice(index, end));
      if (typeof parsed === 'string') return fail(parsed, index);
      units.push(parsed);
      index = end - 1;
    } else if (char === '\\') {
      const escaped = glob[++index];
      if (escaped === undefined) return fail('a `\\` with nothing behind it', index - 1);
      units.push({ kind: 'char', char: escaped });
    } else units.push({ kind: 'char', char });
  }
  return [...segments, segment(units)];
}

/** A class, or what is wrong with it. */
function parseClass(text: string): CharClass | string {
  if (!text.endsWith(']') || text.length < 3) return 'a `[` without its `]`';
  const negated = text[1] === '!' || text[1] === '^';
  const body = text.slice(negated ? 2 : 1, -1);
  if (body === '') return 'a `[` without its `]`';
  const ranges: [string, string][] = [];
  for (let index = 0; index < body.length; index++) {
    const low = body[index] ?? '';
    const high = body[index + 2];
    if (body[index + 1] === '-' && high !== undefined) {
      if (high < low) return `a range that runs backwards, \`${low}-${high}\``;
      ranges.push([low, high]);
      index += 2;
    } else ranges.push([low, low]);
  }
  return { kind: 'class', negated, ranges };
}

function segment(units: readonly Unit[]): Segment {
  const literal = units.every((unit) => unit.kind === 'char')
    ? units.map((unit) => (unit.kind === 'char' ? unit.char : '')).join('')
    : undefined;
  return { units, literal };
}

/** Leftmost-first search for the middle segments is exact for globs, and never backtracks. */
function segmentsTest(segments: readonly Segment[]): NameTest {
  const first = segments[0];
  const last = segments.at(-1);
  if (first === undefined || last === undefined) return (name) => name === '';
  if (segments.length === 1) {
    const { literal } = first;
    if (literal !== undefined) return (name) => name === literal;
    return (name) => name.length === first.units.length && fitsAt(first, name, 0);
  }
  const middle = segments.slice(1, -1);
  const lengthMin = segments.reduce((sum, part) => sum + part.units.length, 0);
  return (name) => {
    if (name.length < lengthMin) return false;
    const end = name.length - last.units.length;
    if (!fitsAt(first, name, 0) || !fitsAt(last, name, end)) return false;
    let position = first.units.length;
    for (const part of middle) {
      const found = findFrom(part, name, position);
      if (found === -1) return false;
      position = found + part.units.length;
    }
    return position <= end;
  };
}

function findFrom(part: Segment, name: string, from: number): number {
  if (part.literal !== undefined) return name.indexOf(part.literal, from);
  for (let index = from; index + part.units.length <= name.length; index++) {
    if (fitsAt(part, name, index)) return index;
  }
  return -1;
}

function fitsAt(part: Segment, name: string, at: number): boolean {
  if (part.literal !== undefined) return name.startsWith(part.literal, at);
  return part.units.every((unit, index) => fitsUnit(unit, name[at + index]));
}

function fitsUnit(unit: Unit, char: string | undefined): boolean {
  if (char === undefined) return false;
  if (unit.kind === 'any') return true;
  if (unit.kind === 'char') return unit.char === char;
  return unit.ranges.some(([low, high]) => char >= low && char <= high) !== unit.negated;
}

function fail(message: string, offset: number): GlobError {
  return { ok: false, message, offset };
}

export type { NameTest };
export { compileGlob, normalizeGlob };
