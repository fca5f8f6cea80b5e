import { describe, expect, test } from 'vitest';
import { readSource } from '../source.ts';
import { size } from './size.ts';

const messages = (path: string, text: string) =>
  size(readSource({ path, text })).map(({ message }) => message);

const functionOf = (lines: number) => `function f() {\n${'  g();\n'.repeat(lines - 2)}}\n`;

describe('files', () => {
  test('may have 400 lines, and no more', () => {
    expect(messages('packages/core/a.ts', 'a;\n'.repeat(400))).toEqual([]);
    expect(messages('packages/core/a.ts', 'a;\n'.repeat(401))).toEqual([
      'the file has 401 lines, the limit is 400',
    ]);
  });

  test('of tests may have 800', () => {
    expect(messages('packages/core/a.test.ts', 'a;\n'.repeat(800))).toEqual([]);
    expect(messages('packages/core/a.test.ts', 'a;\n'.repeat(801))).toHaveLength(1);
  });

  test('of data and of other folders may be as long as they are', () => {
    expect(messages('packages/core/a.json', '1\n'.repeat(5000))).toEqual([]);
    expect(messages('test/manifest.ts', 'a;\n'.repeat(5000))).toEqual([]);
  });
});

describe('functions', () => {
  test('may have 70 lines, and no more', () => {
    expect(messages('tools/a.ts', functionOf(70))).toEqual([]);
    expect(messages('tools/a.ts', functionOf(71))).toEqual(['f has 71 lines, the limit is 70']);
    expect(messages('tools/a.mjs', functionOf(71))).toHaveLength(1);
  });

  test('of tests may be longer', () => {
    expect(messages('tools/a.test.ts', functionOf(71))).toEqual([]);
  });

  test('take three parameters, then an object', () => {
    expect(messages('tools/a.ts', 'function f(a, b, c) {}')).toEqual([]);
    expect(messages('tools/a.ts', 'function f(a, b, c, d) {}')).toEqual([
      'f takes 4 parameters; beyond 3, an object',
    ]);
    expect(messages('tools/a.ts', 'const f = (a, b, c, d) => a;')).toHaveLength(1);
    expect(messages('tools/a.ts', 'class A { f(a, b, c, d) {} }')).toHaveLength(1);
  });

  test('that are callbacks take what they are given', () => {
    expect(messages('tools/a.ts', 'text.replace(x, (a, b, c, d) => a);')).toEqual([]);
  });

  test('whose signature the design fixes keep it', () => {
    const text = 'function decide(a, b, c, d) {}';
    expect(messages('packages/core/policy/decide/decide.ts', text)).toEqual([]);
    expect(messages('packages/core/policy/decide/state.ts', text)).toHaveLength(1);
  });
});
