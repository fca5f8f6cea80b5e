// Predicates over arguments that are paths: `args.path_under`, `args.not_path_under`, `args.path_matches`.
import type { JsonObject, JsonValue } from '@subluminal/contracts';
import { lexicalPath } from '../../paths/lexical-path.ts';
import { pathReadings } from '../../paths/path-readings.ts';
import { compileGlob } from '../../patterns/glob.ts';
import type { Expansion, PathResolver, ProjectPaths } from '../../ports.ts';
import { agreed, type Certainty, negated } from './certainty.ts';
import {
  compilePathPatterns,
  foldPath,
  type PathField,
  type PathPatternTest,
} from './path-patterns.ts';

/** The disk as it is while a call is decided. */
export interface DiskView {
  readonly resolve: PathResolver;
  /** What a shell's pattern stands for. */
  readonly expand: (pattern: string) => Expansion;
}

/** The disk is looked at only where a name may be that of a file. */
export type ArgsJudge = (args: JsonObject, disk: () => DiskView) => Certainty;

const DEPTH_MAX = 512;
const VALUES_MAX = 10_000;

/** What stands under the keys that a glob matches, at any depth, judged as paths. */
export function pathArgsJudge(
  key: string,
  { field, patterns }: { readonly field: PathField; readonly patterns: readonly string[] },
  paths: ProjectPaths,
): ArgsJudge {
  const compiled = compileGlob(key);
  if (!compiled.ok) throw new Error(`an invalid glob reached the compiler: ${key.slice(0, 100)}`);
  const test = compilePathPatterns(patterns, field, paths);
  const isNegated = field === 'not_path_under';
  return (args, disk) => {
    const { values, isWhole } = valuesUnder(args, compiled.test);
    if (!isWhole) return 'maybe';
    const { resolve } = disk();
    const all = values.map((value) =>
      // A server may take lines for paths of their own.
      typeof value === 'string' && !value.includes('\n')
        ? judgePath(value, test, { paths, resolve })
        : 'maybe',
    );
    // A call that names no path at all is not known to stay in a folder.
    const found = agreed(all, isNegated ? 'maybe' : 'no');
    return isNegated ? negated(found) : found;
  };
}

interface Disk {
  readonly paths: ProjectPaths;
  readonly resolve: PathResolver;
}

/** Whether a text, read as a path in every way, matches: by its name and by where it leads. */
export function judgePath(text: string, test: PathPatternTest, disk: Disk): Certainty {
  const { paths: read, isWhole } = pathReadings(text, disk.paths);
  let isSure = isWhole;
  let isPossible = !isWhole;
  for (const path of read) {
    const { byName, byPlace } = judgeReading(path, test, disk);
    isPossible ||= byName || byPlace !== 'no';
    isSure &&= byPlace === 'yes';
  }
  if (isSure) return 'yes';
  return isPossible ? 'maybe' : 'no';
}

/** Whether an absolute path matches by its name, and where it leads: a server may resolve `..` either way. */
export function judgeReading(
  path: string,
  test: PathPatternTest,
  { paths, resolve }: Disk,
): { readonly byName: boolean; readonly byPlace: Certainty } {
  const lexical = lexicalPath(path);
  const places = path.includes('..') ? [resolve(path), resolve(lexical)] : [resolve(lexical)];
  const all = places.map((place): Certainty => {
    if (place === undefined) return 'maybe';
    return test(foldPath(place, paths)) ? 'yes' : 'no';
  });
  return { byName: test(foldPath(lexical, paths)), byPlace: agreed(all, 'maybe') };
}

/** Strings, and other values but null, that stand under a key or in a list under it. */
function valuesUnder(
  args: JsonObject,
  isWanted: (key: string) => boolean,
): { readonly values: readonly JsonValue[]; readonly isWhole: boolean } {
  const values: JsonValue[] = [];
  let isWhole = true;
  const visit = (value: JsonValue, isUnder: boolean, depth: number): void => {
    if (depth > DEPTH_MAX || values.length > VALUES_MAX) isWhole = false;
    else if (isList(value)) for (const item of value) visit(item, isUnder, depth + 1);
    else {
      if (isUnder && value !== null) values.push(value);
      if (typeof value !== 'object' || value === null) return;
      for (const [key, member] of Object.entries(value)) visit(member, isWanted(key), depth + 1);
    }
  };
  visit(args, false, 0);
  return { values, isWhole };
}

export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
