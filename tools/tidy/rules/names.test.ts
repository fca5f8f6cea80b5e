import { expect, test } from 'vitest';
import { readSource } from '../source.ts';
import { names } from './names.ts';

const count = (path: string) => names(readSource({ path, text: 'a;' })).length;

test.each([
  'packages/core/utils.ts',
  'packages/core/string-utils.ts',
  'packages/core/helpers/trim.ts',
  'packages/core/common.test.ts',
  'packages/core/misc.mjs',
  'packages/core/readLine.ts',
  'packages/core/read_line.ts',
  'packages/Core/read.ts',
])('refuses %s', (path) => {
  expect(count(path)).toBe(1);
});

test.each([
  'packages/core/read-line.ts',
  'packages/core/read-line.test.ts',
  'packages/core/commonly.ts',
  'tools/tidy/main.ts',
  'vitest.config.ts',
  'docs/reference/SUB_BUNDLE_PARSE.md',
])('lets %s pass', (path) => {
  expect(count(path)).toBe(0);
});
