// Whether a command removes or overwrites what is protected without naming it: by a folder above it, or by a file that
// is put into its folder.
import { basename, dirname, join, resolve } from 'node:path';
import type { PutPath } from '@subluminal/core/shell';
import { isPattern, nameMatcher, type PathLookup } from '../../os/index.ts';
import { pathParts, splitPattern } from './name-patterns.ts';
import { foldedPath, isInside, type KnownFile, type Protection } from './protected-files.ts';

/** What a command does to files, from the folder where it starts. */
export interface FileChanges {
  readonly removes: readonly string[];
  readonly puts: readonly PutPath[];
  readonly writes: readonly string[];
}

interface ChangeContext {
  readonly protection: Protection;
  /** Where relative paths may start. */
  readonly starts: readonly string[];
  readonly userHome: string;
  readonly lookup: PathLookup;
}

interface FoundChange {
  readonly what: string;
  readonly name: string;
}

const CHANGES_MAX = 10_000;
const TOO_MANY = 'more files than can be checked';

export function findChanged(
  { removes, puts, writes }: FileChanges,
  { protection, starts, userHome, lookup }: ChangeContext,
): FoundChange | undefined {
  const { files } = protection;
  if ((removes.length + puts.length) * starts.length * files.length > CHANGES_MAX) {
    return { what: TOO_MANY, name: [...removes, ...puts.map(({ to }) => to)][0] ?? '' };
  }
  for (const start of starts) {
    const place = (path: string) => resolve(start, path.replace(/^~(?=\/|$)/, userHome));
    for (const name of removes) {
      const isRemoved = removalTest(place(name), lookup);
      const found = files.find((file) => file.ids.length > 0 && file.paths.some(isRemoved));
      if (found !== undefined) return { what: found.what, name };
    }
    const written = new Set(puts.length === 0 ? [] : writes.map(place));
    const isThere = (path: string) => written.has(path) || lookup.locate(path)?.isThere === true;
    for (const { from, to } of puts) {
      const put = { from: from === undefined ? undefined : place(from), to: place(to) };
      const found = files.find((file) => isPutOver(file, put, { start, lookup, isThere }));
      if (found !== undefined) return { what: found.what, name: to };
    }
  }
  return undefined;
}

/** Tests whether a path is gone when this one, or all that it stands for as a pattern, is removed. */
function removalTest(removed: string, lookup: PathLookup): (path: string) => boolean {
  if (!isPattern(removed)) {
    // A link that is removed leaves what it leads to.
    const real = join(lookup.locate(dirname(removed))?.path ?? dirname(removed), basename(removed));
    return (path) => [removed, real].some((one) => isInside(foldedPath(path), foldedPath(one)));
  }
  const { folder, rest } = splitPattern(removed);
  const folders = [folder, lookup.locate(folder)?.path ?? folder];
  return (path) => folders.some((one) => covers(rest, partsBelow(path, one)));
}

/** The parts of a path below a folder; undefined when it is not in it. */
function partsBelow(path: string, folder: string): readonly string[] | undefined {
  const isBelow = isInside(foldedPath(path), foldedPath(folder));
  return isBelow ? pathParts(path.slice(folder.length)) : undefined;
}

/** Whether a pattern stands for a path or for a folder above it. */
function covers(pattern: readonly string[], path: readonly string[] | undefined): boolean {
  if (path === undefined) return false;
  let ends: readonly number[] = [0];
  let isAnywhere = false;
  for (const part of pattern) {
    const [first = path.length] = ends;
    if (part === '**') ends = [...path.keys(), path.length].slice(first);
    else {
      // What stands behind `**` was found by a program, and not by a shell: any sign may be the dot of a name.
      const [matches, sign] = isAnywhere ? [nameMatcher(`x${part}`), 'x'] : [nameMatcher(part), ''];
      ends = ends.filter((end) => matches(`${sign}${path[end] ?? '/'}`)).map((end) => end + 1);
    }
    isAnywhere = part === '**';
  }
  return ends.some((end) => end <= path.length);
}

interface PutContext {
  readonly start: string;
  readonly lookup: PathLookup;
  readonly isThere: (path: string) => boolean;
}

/** Whether what is put somewhere lands on a protected file, as far as names and the disk tell. */
function isPutOver(
  { paths, ids }: KnownFile,
  { from, to }: PutPath,
  { start, lookup, isThere }: PutContext,
): boolean {
  const folders = [...new Set([to, lookup.locate(to)?.path ?? to])];
  return paths.some((path) =>
    folders.some((folder) => {
      const below = partsBelow(path, folder);
      const [first, ...rest] = below ?? [];
      if (below === undefined) return false;
      if (first === undefined) return true;
      // Archives are unpacked in projects all the time: there, only a file that they may overwrite counts.
      if (from === undefined)
        return ids.length > 0 || (rest.length === 0 && !isInside(start, folder));
      // All that is in `from`, or `from` itself under its name.
      if (!isPattern(from) && isThere(join(from, ...below))) return true;
      const name = basename(from);
      if (!nameMatcher(name)(first)) return false;
      return (rest.length === 0 && !isPattern(name)) || isThere(join(dirname(from), ...below));
    }),
  );
}
