// Paths of rules, and how clients write them.
import { isUnder, lexicalPath } from '../../paths/lexical-path.ts';
import { globAlternatives } from '../../patterns/glob.ts';
import { type PathForm, patternStart } from '../match/path-patterns.ts';
import type { SandboxPath, SandboxPlaces } from './settings.ts';

const GLOB = /[*?[\]\\]/;

/** A pattern with its braces written out: clients know no braces. */
export function sandboxPaths(text: string, form: PathForm): readonly SandboxPath[] {
  const { folder, rest } = patternStart(text, form);
  const all = form === 'path_under' ? [rest] : globAlternatives(rest);
  if (!Array.isArray(all)) return [];
  return all.map((one) => {
    const isGlob = form === 'path_matches' && GLOB.test(one);
    // A folder and all that is in it is what a sandbox denies in any case.
    const plain = isGlob ? one.replace(/\/\*\*$/, '') : one;
    const isPlain = !GLOB.test(plain) || form === 'path_under';
    const below = isPlain ? lexicalPath(`/${plain}`).slice(1) : plain.replace(/^\/+/, '');
    return { folder, rest: below, isGlob: !isPlain };
  });
}

/** Of a path without a glob. */
export function absoluteOf({ folder, rest }: SandboxPath, places: SandboxPlaces): string {
  return lexicalPath(`${folder === 'root' ? '' : places[folder]}/${rest}`);
}

export function absolutePattern(path: SandboxPath, places: SandboxPlaces): string {
  if (!path.isGlob) return absoluteOf(path, places);
  const { folder, rest } = path;
  return `${folder === 'root' ? '' : literal(places[folder])}/${rest}`;
}

/** A folder may have a name that would be a pattern. */
function literal(path: string): string {
  return path.replaceAll(/[*?[\]\\]/g, '\\$&');
}

/** The folders that are in both lists. */
export function commonFolders(
  one: readonly SandboxPath[],
  other: readonly SandboxPath[],
  places: SandboxPlaces,
): readonly SandboxPath[] {
  const inside = (inner: readonly SandboxPath[], outer: readonly SandboxPath[]) =>
    inner.filter((path) =>
      outer.some((wide) => isUnder(absoluteOf(path, places), absoluteOf(wide, places))),
    );
  return uniquePaths([...inside(one, other), ...inside(other, one)]);
}

export function uniquePaths<P extends SandboxPath>(paths: readonly P[]): readonly P[] {
  return [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
}

/**
 * The same name right in the project and right in the home, for a pattern that means it anywhere: a shell
 * that knows no patterns, or not for the whole disk, has at least these.
 */
export function nearPaths({ folder, rest, isGlob }: SandboxPath): readonly SandboxPath[] {
  const name = rest.replace(/^\*\*\//, '');
  if (!isGlob || folder !== 'root' || name === rest || GLOB.test(name)) return [];
  return (['project', 'home'] as const).map((near) => ({
    folder: near,
    rest: name,
    isGlob: false,
  }));
}

export function isWholeProject({ folder, rest }: SandboxPath): boolean {
  return folder === 'project' && rest === '';
}
