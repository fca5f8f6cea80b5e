// What the tree promises about its own shape and no ordinary tool checks.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { countLines } from './lines.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const TOOLS_LINES_MAX = 1_500;
const SAME_BASE_NAME_MAX = 3;
const SAME_EXPORT_MAX = 2;
/** Members of a family have the same files, each in a folder of its own, or one file each. */
const FAMILIES =
  /\/(?:rules|approval-channels|channels|transports|wires|providers)\/[^/]+\/[^/]+$|\/(?:commands|events|event-types)\/[^/]+$/;

const paths = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const shipped = paths
  .filter((path) => /^packages\/.*\.tsx?$/.test(path))
  .filter((path) => !/\.test(?:-support)?\.ts$|\/(?:testing|fixtures)\//.test(path))
  .map((path) => ({ path, text: read(path) }));

function groups(pairs: readonly (readonly [name: string, path: string])[], max: number) {
  const found = new Map<string, string[]>();
  for (const [name, path] of pairs) found.set(name, [...(found.get(name) ?? []), path]);
  return Object.fromEntries([...found].filter(([, places]) => places.length > max));
}

test('the tools stay small enough to read', () => {
  expect(countLines().tools).toBeLessThanOrEqual(TOOLS_LINES_MAX);
});

test('no file name stands for more than three files', () => {
  const named = shipped
    .filter(({ path }) => !FAMILIES.test(path) && !/\/(?:index|types)\.tsx?$/.test(path))
    .map(({ path }) => [basename(path), path] as const);
  expect(groups(named, SAME_BASE_NAME_MAX)).toEqual({});
});

test('no type and no exported function has the name of two others', () => {
  const DEFINED =
    /^(?:export )?(?:interface|type|class|abstract class) (\w+)|^export (?:async )?function\*? (\w+)/gm;
  const defined = shipped.flatMap(({ path, text }) =>
    [...new Set([...text.matchAll(DEFINED)].map(([, type, fn]) => type ?? fn ?? ''))].map(
      (name) => [name, path] as const,
    ),
  );
  expect(groups(defined, SAME_EXPORT_MAX)).toEqual({});
});

test('no folders import each other in a circle', () => {
  const edges = new Map<string, Set<string>>();
  for (const { path, text } of shipped) {
    for (const [, specifier = ''] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const to = posix.dirname(posix.join(posix.dirname(path), specifier));
      if (to === dirname(path)) continue;
      edges.set(dirname(path), (edges.get(dirname(path)) ?? new Set()).add(to));
    }
  }
  expect(circles(edges)).toEqual([]);
});

/** Every folder that reaches itself, with the way it takes. */
function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const found: string[] = [];
  const finished = new Set<string>();
  const visit = (folder: string, way: readonly string[]): void => {
    if (way.includes(folder)) {
      found.push([...way.slice(way.indexOf(folder)), folder].join(' → '));
      return;
    }
    if (finished.has(folder)) return;
    for (const next of edges.get(folder) ?? []) visit(next, [...way, folder]);
    finished.add(folder);
  };
  for (const folder of edges.keys()) visit(folder, []);
  return found;
}

test('pure packages take the time as an argument', () => {
  const impure = shipped.filter(
    ({ path, text }) =>
      /^packages\/(?:core|contracts)\//.test(path) && /\bnew Date(?:\(\)|;)/.test(text),
  );
  expect(impure.map(({ path }) => path)).toEqual([]);
});

// Words are assembled here, so that this file doesn't find itself.
const word = (...parts: readonly string[]) => parts.join('');
const TRACES: readonly (readonly [what: string, pattern: RegExp, inTests: boolean])[] = [
  [
    'the host of a package registry',
    new RegExp(`\\bregistry\\.(?:npm${word('js')}|yarn${word('pkg')})\\.`),
    true,
  ],
  [
    'a mark of unfinished work',
    new RegExp(`\\b(?:TO${word('DO')}|FIX${word('ME')}|X${word('XX')})\\b`),
    true,
  ],
  [
    'a path of one machine',
    /(?<![\w.~$}/-])\/(?:work|root|home\/(?!node\/)\w[\w-]*|Users\/\w[\w-]*)\//,
    false,
  ],
  [
    'a private network address',
    /(?<![\w.-])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2})(?![\w.-]*\w|\/\d)/,
    false,
  ],
];

test.each(TRACES)('no file holds %s', (_what, pattern, inTests) => {
  const isTest = (path: string) =>
    /\.test(?:-support)?\.ts$|\/testing\/|^test\/|^tools\/|^bench\//.test(path);
  const texts = paths.filter((path) => /\.(?:tsx?|mjs|md|json|ya?ml|toml)$/.test(path));
  const found = texts.filter((path) => (inTests || !isTest(path)) && pattern.test(read(path)));
  expect(found).toEqual([]);
});
