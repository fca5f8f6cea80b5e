// Globs over paths: `*` and `?` stay within one name, `**` stands for any number of folders. A leading
// `.` is no exception: a deny on `*` must not be escaped by `.env`.
import {
  compileGlob,
  type GlobError,
  type GlobResult,
  globAlternatives,
  type NameTest,
} from './glob.ts';

/** The names of a path below its root; `below` is empty for the root itself. */
export type PathTest = (below: readonly string[]) => boolean;

/** What stands between two `**`: tests for names that follow each other. */
type Segment = readonly NameTest[];

type PathGlobResult = { readonly ok: true; readonly alternatives: readonly PathGlob[] } | GlobError;

/** One alternative: a fixed start, and a test for what is below it. */
export interface PathGlob {
  readonly fixed: readonly string[];
  readonly test: PathTest;
}

type CompilePart = (part: string) => GlobResult;

const SPECIAL = /[*?[]/;
const ESCAPED = /\\([\s\S])/g;

/** Compiles a glob, which is relative to a folder that the caller knows. */
export function compilePathGlob(glob: string, { ignoresCase = false } = {}): PathGlobResult {
  const alternatives = globAlternatives(glob);
  if (!Array.isArray(alternatives)) return alternatives;
  const compiled: PathGlob[] = [];
  // Braces repeat the names around them in every alternative.
  const known = new Map<string, GlobResult>();
  const compilePart = (part: string) => {
    const found = known.get(part) ?? compileGlob(part, { ignoresCase });
    known.set(part, found);
    if (found.ok) return found;
    // A part with braces stands nowhere as it is compiled.
    const start = glob.indexOf(part);
    return { ...found, offset: start === -1 ? 0 : start + found.offset };
  };
  for (const text of alternatives) {
    const one = compileParts(partsOf(text), compilePart);
    if ('message' in one) return one;
    compiled.push(one);
  }
  return { ok: true, alternatives: compiled };
}

function partsOf(glob: string): readonly string[] {
  return glob.split('/').filter((part) => part !== '' && part !== '.');
}

function compileParts(parts: readonly string[], compilePart: CompilePart): PathGlob | GlobError {
  const first = parts.findIndex((part) => SPECIAL.test(part.replace(ESCAPED, '')));
  const rest = first === -1 ? [] : parts.slice(first);
  const fixed = (first === -1 ? parts : parts.slice(0, first)).map((part) => {
    return part.replace(ESCAPED, '$1');
  });
  if (rest.includes('..')) {
    return { ok: false, message: 'a `..` behind a wildcard', offset: 0 };
  }
  const segments: NameTest[][] = [[]];
  for (const part of rest) {
    if (part === '**') segments.push([]);
    else {
      const compiled = compilePart(part);
      if (!compiled.ok) return compiled;
      segments.at(-1)?.push(compiled.test);
    }
  }
  return { fixed, test: segmentsTest(segments) };
}

/** The leftmost place for each segment is exact, as for the stars of a glob. */
function segmentsTest(segments: readonly Segment[]): PathTest {
  const [first = [], ...others] = segments;
  const last = others.pop();
  if (last === undefined) return (names) => names.length === first.length && fits(first, names, 0);
  return (names) => {
    const end = names.length - last.length;
    if (end < first.length || !fits(first, names, 0) || !fits(last, names, end)) return false;
    let at = first.length;
    for (const segment of others) {
      while (at + segment.length <= end && !fits(segment, names, at)) at++;
      at += segment.length;
    }
    return at <= end;
  };
}

function fits(segment: Segment, names: readonly string[], at: number): boolean {
  return segment.every((test, index) => test(names[at + index] ?? ''));
}
