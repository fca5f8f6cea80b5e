// The paths in a rule: a folder or a glob, with `${project}`, `${home}` or `${tmp}` at its start → a test
// for absolute, normalised paths.

import { isUnder, lexicalPath, namesBelow } from '../../paths/lexical-path.ts';
import { type GlobError, globAlternatives } from '../../patterns/glob.ts';
import { compilePathGlob, type PathTest } from '../../patterns/path-glob.ts';
import type { ProjectPaths } from '../../ports.ts';

/** Tests a path that `foldPath` has been applied to. */
export type PathPatternTest = (path: string) => boolean;

/** `path_under` names a folder, `path_matches` is a glob. */
export type PathForm = 'path_under' | 'path_matches';

/** The fields of `args` and of `any_arg` that speak of paths. */
export type PathField = PathForm | 'not_path_under';
export const PATH_FIELDS: readonly PathField[] = ['path_under', 'not_path_under', 'path_matches'];

export function formOf(field: PathField): PathForm {
  return field === 'path_matches' ? 'path_matches' : 'path_under';
}

const FOLDER = /^(?:\$\{(\w*)\}|(~))(?=\/|$)/;
const VARIABLES = ['project', 'home', 'tmp'] as const;
/** A shorter text stands in nearly everything. */
const MENTION_LENGTH_MIN = 2;
/** Signs that some disks leave out of names. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

type Disk = Pick<ProjectPaths, 'isCaseless'>;

/** A path as the disk compares it. */
export function foldPath(path: string, disk: Disk): string {
  const composed = composedPath(path, disk);
  return disk.isCaseless ? composed.toLowerCase() : composed;
}

function composedPath(path: string, { isCaseless }: Disk): string {
  // What ASCII can't spell is rare, and normalising is slow.
  const composed = /^[\0-\x7f]*$/.test(path) ? path : path.normalize('NFC');
  return isCaseless ? composed.replace(IGNORED, '') : composed;
}

/** Compiles a glob for paths that `foldPath` has been applied to. */
function globOn(glob: string, disk: Disk): ReturnType<typeof compilePathGlob> {
  return compilePathGlob(composedPath(glob, disk), { ignoresCase: disk.isCaseless });
}

/** What is wrong with a path in a rule. */
export function pathPatternFault(text: string, form: PathForm): Omit<GlobError, 'ok'> | undefined {
  const variable = text.lastIndexOf('${');
  const [, name] = FOLDER.exec(text) ?? [];
  if (variable > 0 || (variable === 0 && !VARIABLES.some((one) => one === name))) {
    const known = VARIABLES.map((one) => `\`\${${one}}\``).join(', ');
    return { message: `it may start with ${known}, and has no other variables`, offset: variable };
  }
  if (form === 'path_under') return undefined;
  // A policy is valid on every disk or on none.
  const { rest } = patternStart(text, form);
  const fault = [false, true]
    .map((isCaseless) => globOn(rest, { isCaseless }))
    .find((compiled) => !compiled.ok);
  // The rest is shorter than the text, or has a `**/` before it.
  const shift = text.length - rest.length;
  return fault && { ...fault, offset: Math.max(0, fault.offset + shift) };
}

interface PatternStart {
  readonly folder: (typeof VARIABLES)[number] | 'root';
  readonly rest: string;
}

/** The folder that a pattern starts at, and what stands behind it. */
export function patternStart(text: string, form: PathForm): PatternStart {
  const [whole = '', name, tilde] = FOLDER.exec(text) ?? [];
  const folder = tilde === undefined ? VARIABLES.find((one) => one === name) : 'home';
  if (folder !== undefined) return { folder, rest: text.slice(whole.length) };
  if (text.startsWith('/') || text.startsWith('**')) return { folder: 'root', rest: text };
  // As in `.gitignore`: a name alone is meant wherever it stands.
  const isName = form === 'path_matches' && !text.replace(/\/+$/, '').includes('/');
  return isName ? { folder: 'root', rest: `**/${text}` } : { folder: 'project', rest: text };
}

/**
 * Compiles patterns to one test: whether one of them matches. Where their folders lead is looked up once,
 * now: a link that an agent puts in their place later does not move a pattern.
 */
export function compilePathPatterns(
  patterns: readonly string[],
  field: PathField,
  paths: ProjectPaths,
): PathPatternTest {
  // Most globs start at the same folder, and a path is split into the names below it once for all of them.
  const testsBelow = new Map<string, PathTest[]>();
  const all = patterns.flatMap((text) => placedTests(text, formOf(field), paths));
  for (const { folders, test } of all) {
    for (const folder of folders) {
      const tests = testsBelow.get(folder) ?? [];
      testsBelow.set(folder, tests);
      tests.push(test);
    }
  }
  const starts = [...testsBelow];
  return (path) =>
    starts.some(([folder, tests]) => {
      if (!isUnder(path, folder)) return false;
      const names = namesBelow(path, folder);
      return tests.some((test) => test(names));
    });
}

/** One alternative of a pattern. */
interface PlacedTest {
  /** The folder that it starts at: as it is written, and where that leads. */
  readonly folders: readonly string[];
  readonly test: PathTest;
}

function placedTests(text: string, form: PathForm, paths: ProjectPaths): readonly PlacedTest[] {
  const { folder, rest } = patternStart(text, form);
  const base = folder === 'root' ? '' : paths[folder];
  const resolve = paths.lookup();
  const foldersAt = (below: string) => {
    const path = `${base}/${below}`;
    const lexical = lexicalPath(path);
    const folders = [lexical, resolve(path) ?? lexical].map((one) => foldPath(one, paths));
    return [...new Set(folders)];
  };
  if (form === 'path_under') return [{ folders: foldersAt(rest), test: () => true }];
  const compiled = globOn(rest, paths);
  if (!compiled.ok) throw new Error(`an invalid path reached the compiler: ${text.slice(0, 100)}`);
  return compiled.alternatives.map(({ fixed, test }) => {
    return { folders: foldersAt(fixed.join('/')), test };
  });
}

/** Texts of which each path that a pattern matches holds one, in lower case; empty when any path may. */
export function mentionsOf(text: string, form: PathForm, paths: ProjectPaths): readonly string[] {
  const { folder, rest } = patternStart(text, form);
  const base = folder === 'root' ? '' : paths[folder];
  const resolve = paths.lookup();
  const alternatives = form === 'path_under' ? [rest] : globAlternatives(rest);
  if (!Array.isArray(alternatives)) return [];
  const longest = alternatives.map((one) => {
    const start = form === 'path_under' ? one : one.replace(/(?:^|\/)[^/]*[*?[\\][\s\S]*$/, '');
    // Where a link leads, the names may be others.
    const names = lexicalPath(start).slice(1).toLowerCase();
    const place = resolve(`${base}/${start}`)?.toLowerCase();
    if (place?.endsWith(names) === false) return '';
    // A name that `..` takes back stands in no such path.
    const parts = lexicalPath(one).split(form === 'path_under' ? '/' : /\\[\s\S]|\[[^\]]*\]|[*?/]/);
    return parts.reduce((best, part) => (part.length > best.length ? part : best), '');
  });
  return longest.some((part) => part.length < MENTION_LENGTH_MIN)
    ? []
    : longest.map((part) => part.toLowerCase());
}
