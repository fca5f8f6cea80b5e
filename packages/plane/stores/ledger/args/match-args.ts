// Whether the arguments of a call name a file, or have a value.
import type { JsonObject } from '@subluminal/contracts';
import { absolutePath, lexicalPath, namedPaths, nameVariants } from '@subluminal/core/paths';
import type { ArgFilter, CallFilter, PathFilter } from '../store/query.ts';
import { globTest, isPathWanted } from './parse-filters.ts';

/** Relative names of a command begin in a folder that it names, too; with more names they do not. */
const NAMES_JOINED_MAX = 64;
const DEPTH_MAX = 16;

/** Whether arguments name one of the paths, or something below it. */
function pathTest(filter: PathFilter) {
  const { paths, home, folder } = filter;
  const baseNames = new Set(paths.map((path) => path.slice(path.lastIndexOf('/') + 1)));
  const lowerNames = [...baseNames].map((base) => base.toLowerCase());
  const isMentioned = (text: string) => {
    const lower = text.toLowerCase();
    return lowerNames.some((base) => lower.includes(base));
  };
  const place = { userHome: home, env: {}, isMentioned };
  const isWanted = (path: string) => isPathWanted(filter, path);
  return (args: JsonObject, runFolder: string | undefined): boolean => {
    const { names } = namedPaths(args, { baseNames, isMentioned });
    const variants = names.flatMap((name) => nameVariants(name, place));
    const start = runFolder ?? folder;
    const resolved = variants.map((name) => lexicalPath(absolutePath(name, start)));
    if (resolved.some(isWanted)) return true;
    if (variants.length > NAMES_JOINED_MAX) return false;
    return resolved.some((from) =>
      variants.some((name) => isWanted(lexicalPath(absolutePath(name, from)))),
    );
  };
}

/** What filters ask of arguments; undefined when they ask nothing. */
export function callArgsTest({ path, args = [] }: Pick<CallFilter, 'path' | 'args'>) {
  if (path === undefined && args.length === 0) return undefined;
  const hasPath = path === undefined ? () => true : pathTest(path);
  const hasArgs = argsTest(args);
  return (value: JsonObject, runFolder: string | undefined): boolean =>
    hasArgs(value) && hasPath(value, runFolder);
}

/** Whether all the named arguments are there with values that fit. */
function argsTest(filters: readonly ArgFilter[]): (args: JsonObject) => boolean {
  const tests = filters.map(({ name, glob }) => ({ name, fits: globTest(glob) }));
  return (args) =>
    tests.every(({ name, fits }) => valuesAt(args, name).some((value) => fits(value)));
}

/** The values that a name leads to: a key as it is, or keys with dots between; of a list each item. */
function valuesAt(value: unknown, name: string, depth = 0): readonly string[] {
  if (depth > DEPTH_MAX || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, name, depth + 1));
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  return entries.flatMap(([key, member]) => {
    if (key === name) return textsIn(member);
    return name.startsWith(`${key}.`)
      ? valuesAt(member, name.slice(key.length + 1), depth + 1)
      : [];
  });
}

function textsIn(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.flatMap((one) => (typeof one === 'object' && one !== null ? [] : [String(one)]));
}
