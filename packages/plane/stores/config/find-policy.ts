// Finds the policies that apply here when none is named: the user's own, and the project's. The
// project's is searched only where nobody else can put one.
import { type Stats, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { attempt, fileProblem, hasSystemCode, realPath } from '../../os/index.ts';

export interface FindOptions {
  readonly cwd: string;
  /** The product's folder. */
  readonly home: string;
  /** The folder that projects are in; nothing outside of it is searched. */
  readonly userHome: string;
}

/** A policy in a folder that is not searched. */
export interface IgnoredPolicy {
  readonly path: string;
  /** Why, as a sentence without its end. */
  readonly why: string;
  /** What makes it used, behind `To use it,`. */
  readonly fix: string;
}

export interface FoundPolicies {
  readonly user: string | undefined;
  readonly project: string | undefined;
  readonly ignored: IgnoredPolicy | undefined;
}

interface SearchedFolders {
  readonly folders: readonly string[];
  /** Where the search ended before the root of the repository, and why. */
  readonly end?: SearchEnd;
}

interface SearchEnd {
  readonly folders: readonly string[];
  readonly why: string;
  /** The command after which the search goes on; without one, the policy has to be named. */
  readonly fix?: string | undefined;
}

/** Where the policy of a project is, in its folder. */
export const PROJECT_POLICY_NAMES: readonly string[] = [
  'policy.yaml',
  join('.subluminal', 'policy.yaml'),
];
const LEVELS_MAX = 64;
const WRITABLE_BY_OTHERS = 0o002;

export function findPolicies({ cwd, home, userHome }: FindOptions): FoundPolicies {
  const own = join(home, 'policy.yaml');
  const user = isFile(own) ? own : undefined;
  const { folders, end } = searchedFolders(realPath(cwd), realPath(userHome));
  // In the home, the policy of the user may lie where that of a project would.
  const isOther = (path: string): boolean => realPath(path) !== realPath(own);
  const found = policyIn(folders);
  const project = found !== undefined && isOther(found) ? found : undefined;
  const left = found === undefined && end !== undefined ? policyIn(end.folders) : undefined;
  const isIgnored = left !== undefined && end !== undefined && isOther(left);
  const ignored = isIgnored ? { path: left, why: end.why, fix: fixFor(left, end) } : undefined;
  return { user, project, ignored };
}

/** A named policy is checked as well, so what it would be refused for comes first. */
function fixFor(path: string, { fix }: SearchEnd): string {
  if (fix !== undefined) return commandIn(fix);
  const unsafe = fileProblem(path);
  const before = unsafe === undefined ? '' : `${commandIn(unsafe.fix)}, then `;
  return `${before}add: --policy ${path}`;
}

function commandIn(fix: string): string {
  return fix.replace(/^Run:/, 'run:');
}

/** The folder of the project whose policy has this path; undefined where no search looks for the name. */
export function projectOfPolicy(path: string): string | undefined {
  const whole = resolve(path);
  // The longer one ends like the shorter one.
  const name = PROJECT_POLICY_NAMES.toReversed().find((one) => whole.endsWith(`${sep}${one}`));
  return name === undefined ? undefined : resolve(whole.slice(0, -name.length));
}

/** The folders in which the policy of a project is looked for, by their real names. */
export function projectFolders({ cwd, userHome }: Omit<FindOptions, 'home'>): readonly string[] {
  return searchedFolders(realPath(cwd), realPath(userHome)).folders;
}

/** From here up to the root of the repository, as long as only the user can write there. */
function searchedFolders(cwd: string, userHome: string): SearchedFolders {
  const upwards = parents(cwd);
  // The folders that would be searched if all of them were safe, to report what is left out.
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
    const fault = folderFault(folder);
    if (fault !== undefined) {
      return { folders, end: { folders: nominal.slice(folders.length), ...fault } };
    }
    const git = join(folder, '.git');
    const hasGit = isThere(git);
    // The home itself is a project only when the user works in it or keeps it in a repository.
    if (!isHome || hasGit || folder === cwd) folders.push(folder);
    if (hasGit || isHome) break;
  }
  return { folders };
}

/** Why others decide what is in a folder on the way, or in its repository. */
function folderFault(folder: string): Omit<SearchEnd, 'folders'> | undefined {
  const problem = fileProblem(folder) ?? fileProblem(join(folder, '.git'));
  if (problem !== undefined) return { why: `${problem.path} ${problem.why}`, fix: problem.fix };
  // Files in a sticky folder may be anybody's.
  const isOpen = ((statsOf(folder)?.mode ?? 0) & WRITABLE_BY_OTHERS) !== 0;
  return isOpen ? { why: `${folder} can be written to by others` } : undefined;
}

function policyIn(folders: readonly string[]): string | undefined {
  return folders
    .flatMap((folder) => PROJECT_POLICY_NAMES.map((name) => join(folder, name)))
    .find(isFile);
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

function isThere(path: string): boolean {
  return statsOf(path) !== undefined;
}

/** Undefined also for a path that may not be looked at. */
function statsOf(path: string): Stats | undefined {
  return attempt(() => statSync(path, { throwIfNoEntry: false }));
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (cause) {
    // It may be a policy, so reading it must report the failure instead of leaving it out.
    return hasSystemCode(cause, 'EACCES');
  }
}
