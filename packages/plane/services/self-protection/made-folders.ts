// Calls that make links or folders: where a path in them leads is seen only when they have run.
import { resolve } from 'node:path';
import { isAnything, isPattern, nameMatcher, type PathLookup } from '../../os/index.ts';

const LINKS = /^(?:(?:\w+\.)?(?:sym)?link(?:sync|at)?|ln|mklink)$/i;
const FOLDERS = /^(?:ln|mkdir|clone|worktree|tar|unzip)$/;
const MOVES = /^(?:cd|pushd|chdir)$/;
/** A file that is there when the call comes may be gone when the path is used. */
const REMOVES = /^(?:rm|rmdir|mv|unlink|rename)$/;

/** Whether a call may go into a folder that it has made, and back: `mkdir a; cd a; rm ../x`. */
export function makesFolders(words: readonly string[]): boolean {
  return hasWord(words, FOLDERS) && hasWord(words, MOVES);
}

function hasWord(words: readonly string[], pattern: RegExp): boolean {
  return words.some((word) => pattern.test(word));
}

interface LinkContext {
  /** Where relative paths may start. */
  readonly starts: readonly string[];
  /** The base names of what is protected. */
  readonly names: ReadonlySet<string>;
  readonly lookup: PathLookup;
}

/** Tests whether a link that the call makes may lead a path to something protected at its end. */
export function linkTest(
  words: readonly string[],
  { starts, names, lookup }: LinkContext,
): (path: string) => boolean {
  if (!hasWord(words, LINKS)) return () => false;
  const removes = hasWord(words, REMOVES);
  const isNamed = (part: string) => {
    if (!isPattern(part)) return names.has(part.toLowerCase());
    return !isAnything(part) && [...names].some(nameMatcher(part));
  };
  /** It is there, and no link is on the way to it. */
  const isPlainFolder = (folder: string) => {
    const located = lookup.locate(folder);
    return located?.isThere === true && located.path === folder;
  };
  return (path) => {
    // The words of a text with blanks are names of their own.
    if (/\s/.test(path)) return false;
    const parts = path.split('/');
    const at = parts.findLastIndex(isNamed);
    const folder = parts.slice(0, at).join('/');
    if (at < 1 || folder === '' || folder === '.') return false;
    if (removes || isPattern(folder)) return true;
    return !starts.some((start) => isPlainFolder(resolve(start, folder)));
  };
}
