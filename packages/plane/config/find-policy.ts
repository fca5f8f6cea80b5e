// Which bundle holds here, when none is named: the project's own first, then the user's.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

interface FindOptions {
  readonly cwd: string;
  /** The product's folder. */
  readonly home: string;
  /** Where the search upwards ends at the latest. */
  readonly userHome: string;
}

type FoundPolicy =
  | { readonly kind: 'found'; readonly path: string; readonly scope: 'project' | 'user' }
  | { readonly kind: 'none' };

const NAMES = ['policy.yaml', join('.subluminal', 'policy.yaml')];
const LEVELS_MAX = 64;

function findPolicy(options: FindOptions): FoundPolicy {
  for (const folder of projectFolders(options)) {
    for (const name of NAMES) {
      const path = join(folder, name);
      if (isFile(path)) return { kind: 'found', path, scope: 'project' };
    }
  }
  const path = join(options.home, 'policy.yaml');
  return isFile(path) ? { kind: 'found', path, scope: 'user' } : { kind: 'none' };
}

/**
 * From here up to the root of the repository. Without one, only folders inside the user's home
 * are looked at: a file in /tmp is anybody's.
 */
function projectFolders({ cwd, userHome }: FindOptions): readonly string[] {
  const upwards = parents(resolve(cwd));
  const root = upwards.findIndex((folder) => existsSync(join(folder, '.git')));
  if (root >= 0) return upwards.slice(0, root + 1);
  const inside = upwards.filter((folder) => isInside(folder, resolve(userHome)));
  return inside.length > 0 ? inside : upwards.slice(0, 1);
}

function parents(folder: string): readonly string[] {
  const found = [folder];
  for (let at = folder; found.length < LEVELS_MAX && dirname(at) !== at; at = dirname(at)) {
    found.push(dirname(at));
  }
  return found;
}

function isInside(folder: string, outer: string): boolean {
  const way = relative(outer, folder);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`);
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (cause) {
    // What may not be looked at may be a policy: whoever reads it will be told, not left without.
    return cause instanceof Error && 'code' in cause && cause.code === 'EACCES';
  }
}

export type { FindOptions, FoundPolicy };
export { findPolicy, projectFolders };
