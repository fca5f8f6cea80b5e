// Names with parts that only a shell fills in: `pol*.yaml`, `$DIR/policy.yaml`. They are held against
// the names of what is protected.
import { compileGlob } from '@subluminal/core/policy';
import { UNKNOWN } from '@subluminal/core/shell';

/** A part that stands for everything, or for a kind of file, names none: `*`, `.*`, `*.yaml`. */
const ANYTHING = new RegExp(`^\\.?[*${UNKNOWN}]+(?:\\.[*\\w]*)?$`);
const PATTERN = new RegExp(`[*?[${UNKNOWN}]`);

/** `[[:alpha:]]` is one character, whichever. */
const NAMED_CLASS = /\[[^\]/]{0,64}\[[:.=]\w{1,16}[:.=]\][^\]/]{0,64}\]/g;

export function isPattern(name: string): boolean {
  return PATTERN.test(name);
}

/** The part before the first sign of a pattern, which leads to a folder; and the rest, by its parts. */
export function splitPattern(name: string): {
  readonly folder: string;
  readonly rest: readonly string[];
} {
  const parts = name.split('/');
  const first = parts.findIndex(isPattern);
  const folder = parts.slice(0, first).join('/');
  const isRoot = folder === '' && name.startsWith('/');
  return { folder: isRoot ? '/' : folder, rest: parts.slice(first).filter(isMeant) };
}

function isMeant(part: string): boolean {
  return part !== '' && part !== '.';
}

/** Whether a part that stands for anything can be filled in to become a name. */
export type CanFill = (part: string, name: string) => boolean;

/** Whether a pattern names a path, or something in it; both by their parts from the same folder. */
export function matchesParts(
  pattern: readonly string[],
  path: readonly string[],
  canFill: CanFill,
): boolean {
  const [first, ...rest] = pattern;
  const [name, ...below] = path;
  // All of the path is named; what is left of the pattern is in it.
  if (name === undefined) return true;
  if (first === undefined) return false;
  if (first === '**') {
    const isBelow = below.length > 0 && matchesParts(pattern, below, canFill);
    return isBelow || matchesParts(rest, path, canFill);
  }
  if (below.length === 0 && isAnything(first)) return canFill(first, name);
  return matchesName(first, name) && matchesParts(rest, below, canFill);
}

interface EndOptions {
  readonly canFill: CanFill;
  /** The folder that the pattern starts in is not known, either. */
  readonly isOpen: boolean;
}

/** Whether a pattern whose folder nobody knows may name a path: by the names at its end. */
export function matchesEnd(
  pattern: readonly string[],
  path: readonly string[],
  { canFill, isOpen }: EndOptions,
): boolean {
  const isEndFilled = canFill(pattern.at(-1) ?? '', path.at(-1) ?? '');
  const folders = isEndFilled ? pattern.slice(0, -1) : pattern;
  const unknown = folders.findLastIndex((part) => {
    return isAnything(part) && (isOpen || part.includes(UNKNOWN));
  });
  const known = pattern.slice(unknown + 1);
  if (known.length === 0 || known.length === pattern.length) return false;
  for (let count = 1; count <= Math.min(known.length, path.length); count++) {
    if (matchesParts(known, path.slice(-count), canFill)) return true;
  }
  return false;
}

function matchesName(pattern: string, name: string): boolean {
  return nameMatcher(pattern)(name);
}

/** Made once where a pattern is held against many names. */
export function nameMatcher(pattern: string): (name: string) => boolean {
  if (!isPattern(pattern)) return (name) => pattern === name;
  let matches: ((name: string) => boolean) | undefined;
  return (name) => {
    // A shell lets no pattern stand for the dot that a name begins with.
    if (name.startsWith('.') && /^[*?[]/.test(pattern)) return false;
    if (/^[\w.-]/.test(pattern) && pattern[0] !== name[0]) return false;
    matches ??= globMatcher(pattern);
    return matches(name);
  };
}

function globMatcher(pattern: string): (name: string) => boolean {
  const glob = pattern.replaceAll(UNKNOWN, '*').replace(NAMED_CLASS, '?');
  const compiled = compileGlob(glob);
  if (compiled.ok) return compiled.test;
  // A bracket without its other half is a plain sign to a shell.
  const plain = compileGlob(glob.replace(/[[\]{}]/g, '\\$&'));
  return plain.ok ? plain.test : () => true;
}

/** Whether a part stands for everything, or for a kind of file. */
export function isAnything(part: string): boolean {
  return ANYTHING.test(part);
}

export function partsOf(path: string): readonly string[] {
  return path.split('/').filter(isMeant);
}
