import { expect, test } from 'vitest';
import { importsOf } from './imports.ts';
import { readSource } from './source.ts';

const specifiers = (text: string) =>
  importsOf(readSource({ path: 'tools/a.ts', text })).map(({ specifier }) => specifier);

test.each([
  ["import 'a';", 'a'],
  ["import a, { b as c } from 'a';", 'a'],
  ["import * as b from 'a';", 'a'],
  ["import type { b } from 'a';", 'a'],
  ["export { b } from 'a';", 'a'],
  ["export type { b } from 'a';", 'a'],
  ["export * from 'a';", 'a'],
  ["await import('a');", 'a'],
  ["await import('a', { with: { type: 'json' } });", 'a'],
  ['type T = typeof import("a");', 'a'],
  ["require('a');", 'a'],
  ['await import(`a`);', 'a'],
  ['await import(`./${a}.ts`);', undefined],
  ["await import('a' + b);", undefined],
])('sees the module of %s', (text, expected) => {
  expect(specifiers(text)).toEqual([expected]);
});

test.each([
  "// import 'a';",
  'const text = "import \'a\'";',
  'const url = import.meta.url;',
  "const a = { import: './b.ts' };",
  "export { a };\nconst from = 'b';",
  "export const a = 'b';",
  "loader.require('a');",
])('sees no module in %s', (text) => {
  expect(specifiers(text)).toEqual([]);
});
