// Which bundles hold here, when none is named: the user's own, and the project's. The project's is
// searched only where nobody else can put one.
import { realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileProblem } from '../os/index.ts';

interface FindOptions {
  readonly cwd: string;
  /** The product's folder. */
  readonly home: string;
  /** The folder that projects are in; nothing outside of it is searched. */
  readonly userHome: string;
}

/** A policy that lies where nothing is searched. */
interface IgnoredPolicy {
  readonly path: string;
  /** Why, as a sentence without its end. */
  readonly why: string;
}

interface FoundPolicies {
  readonly user: string | undefined;
  readonly project: string | undefined;
  readonly ignored: IgnoredPolicy | undefined;
}

interface SearchedFolders {
  readonly folders: readonly string[];
  /** Where the search ended before the root of the repository, and why. */
  readonly end?: { readonly folders: readonly string[]; readonly why: string };
}

const NAMES = ['policy.yaml', join('.subluminal', 'policy.yaml')];
const LEVELS_MAX = 64;
const WRITABLE_BY_OTHERS = 0o002;

function findPolicies({ cwd, home, userHome }: FindOptions): FoundPolicies {
  const own = join(home, 'policy.yaml');
  const user = isFile(own) ? own : undefined;
  const { folders, end } = searchedFolders(realPath(cwd), realPath(userHome));
  // In the home, the policy of the user may lie where that of a project would.
  const isOther = (path: string): boolean => realPath(path) !== realPath(own);
  const found = policyIn(folders);
  const project = found !== undefined && isOther(found) ? found : undefined;
  const left = found === undefined && end !== undefined ? policyIn(end.folders) : undefined;
  const isIgnored = left !== undefined && end !== undefined && isOther(left);
  return { user, project, ignored: isIgnored ? { path: left, why: end.why } : undefined };
}

/** The folders in which the policy of a project is looked for, by their real names. */
function projectFolders({ cwd, userHome }: Omit<FindOptions, 'home'>): readonly string[] {
  return searchedFolders(realPath(cwd), realPath(userHome)).folders;
}

/** From here up to the root of the repository, as long as only the user can write there. */
function searchedFolders(cwd: string, userHome: string): SearchedFolders {
  const upwards = parents(cwd);
  // What would be searched if everybody were trusted: to tell of what is left out.
  const root = upwards.findIndex((folder) => isThere(join(folder, '.git')));
  const inside = upwards.filter((folder) => isInside(folder, userHome));
  const unrooted = inside.length > 0 ? inside : upwards.slice(0, 1);
  const nominal = root >= 0 ? upwards.slice(0, root + 1) : unrooted;
  if (cwd !== userHome && !isInside(cwd, userHome)) {
    return { folders: [], end: { folders: nominal, why: `${cwd} is outside of ${userHome}` } };
  }
  const folders: string[] = [];
  for (const folder of upwards) {
    const isHome = folder === userHome;
    const why = folderFault(folder);
    if (why !== undefined) {
      return { folders, end: { folders: nominal.slice(folders.length), why } };
    }
    const git = join(folder, '.git');
    const hasGit = isThere(git);
    // The home itself is a project only for who works in it, or keeps it in a repository.
    if (!isHome || hasGit || folder === cwd) folders.push(folder);
    if (hasGit || isHome) break;
  }
  return { folders };
}

/** Why others decide what is in a folder of the way, or in its repository. */
function folderFault(folder: string): string | undefined {
  const problem = fileProblem(folder) ?? fileProblem(join(folder, '.git'));
  if (problem !== undefined) return `${problem.path} ${problem.why}`;
  // What lies in a sticky folder may be anybody's.
  const isOpen = ((statsOf(folder)?.mode ?? 0) & WRITABLE_BY_OTHERS) !== 0;
  return isOpen ? `${folder} can be written to by others` : undefined;
}

function policyIn(folders: readonly string[]): string | undefined {
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isFile);
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

/** By its real name: a link must not make a folder look as if it were inside of another. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function isThere(path: string): boolean {
  return statsOf(path) !== undefined;
}

/** Undefined also for what may not be looked at. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (cause) {
    // What may not be looked at may be a policy: whoever reads it will be told, not left without.
    return cause instanceof Error && 'code' in cause && cause.code === 'EACCES';
  }
}

export type { FindOptions, FoundPolicies, IgnoredPolicy };
export { findPolicies, projectFolders };
