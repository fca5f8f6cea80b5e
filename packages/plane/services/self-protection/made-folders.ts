// Calls that make links or folders: where a path in them leads is seen only when they have run.
import { resolve } from 'node:path';
import { isAnything, isPattern, nameMatcher } from './name-patterns.ts';
import type { PathLookup } from './path-identity.ts';

const LINKS = /^(?:(?:\w+\.)?(?:sym)?link(?:sync|at)?|ln|mklink)$/i;
const FOLDERS = /^(?:ln|mkdir|clone|worktree|tar|unzip)$/;
const MOVES = /^(?:cd|pushd|chdir)$/;
/** What is there when the call comes may be gone when the path is used. */
const REMOVES = /^(?:rm|rmdir|mv|unlink|rename)$/;

interface MadeByCall {
  readonly links: boolean;
  readonly removes: boolean;
  /** It may go into a folder that it has made, and back: `mkdir a; cd a; rm ../x`. */
  readonly goesInto: boolean;
}

export function madeBy(words: readonly string[]): MadeByCall {
  const does = (what: RegExp) => words.some((word) => what.test(word));
  return { links: does(LINKS), removes: does(REMOVES), goesInto: does(FOLDERS) && does(MOVES) };
}

interface AroundPath {
  readonly made: MadeByCall;
  /** Where relative paths may start. */
  readonly starts: readonly string[];
  /** The base names of what is protected. */
  readonly names: ReadonlySet<string>;
  readonly lookup: PathLookup;
}

/** Whether a link that the call makes may lead a path to something that is called like its end. */
export function mayBeLinked(path: string, { made, starts, names, lookup }: AroundPath): boolean {
  // The words of a text with blanks are names of their own.
  if (!made.links || /\s/.test(path)) return false;
  const parts = path.split('/');
  const at = parts.findLastIndex((part) => isNameOf(part, names));
  const folder = parts.slice(0, at).join('/');
  if (at < 1 || folder === '' || folder === '.') return false;
  if (made.removes || isPattern(folder)) return true;
  return !starts.some((start) => isPlainFolder(resolve(start, folder), lookup));
}

function isNameOf(part: string, names: ReadonlySet<string>): boolean {
  if (!isPattern(part)) return names.has(part.toLowerCase());
  return !isAnything(part) && [...names].some(nameMatcher(part));
}

/** It is there, and no link is on the way to it. */
function isPlainFolder(folder: string, lookup: PathLookup): boolean {
  const located = lookup.locate(folder);
  return located?.isThere === true && located.path === folder;
}
