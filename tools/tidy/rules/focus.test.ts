import { expect, test } from 'vitest';
import { readSource } from '../source.ts';
import { focus } from './focus.ts';

const count = (text: string, path = 'packages/core/a.test.ts') =>
  focus(readSource({ path, text })).length;

test.each([
  "test.only('a', () => {});",
  "it.skip('a', () => {});",
  "describe.todo('a');",
  "test.concurrent.skip('a', () => {});",
  "test.skip.each([1])('a', () => {});",
])('refuses %s', (text) => {
  expect(count(text)).toBe(1);
});

test.each([
  "test.skipIf(noServer)('a', () => {});",
  "test.each([1])('a', () => {});",
  'reader.skip(4);',
  "// test.only('a')",
  "const text = 'it.skip(a)';",
])('lets %s pass', (text) => {
  expect(count(text)).toBe(0);
});

test('looks at tests only', () => {
  expect(count("test.only('a');", 'packages/core/a.ts')).toBe(0);
});
