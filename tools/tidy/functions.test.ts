import { describe, expect, test } from 'vitest';
import { functionsOf } from './functions.ts';
import { readSource } from './source.ts';

const shapes = (text: string) =>
  functionsOf(readSource({ path: 'tools/a.ts', text })).map(
    ({ name, lines, parameters }) => `${name || '-'} ${lines} ${parameters}`,
  );

describe('functionsOf', () => {
  test.each([
    ['function f(a, b) {\n}', 'f 2 2'],
    ['async function* f<T, U>(a: Map<T, U>) {\n\n}', 'f 3 1'],
    ['function f(): { a: string } {\n}', 'f 2 0'],
    ['function f(): Promise<{ a: 1 }> | undefined {\n}', 'f 2 0'],
    ['function f({ a, b }: { a: X; b: Y }, [c, d]: Z,) {}', 'f 1 2'],
    ['function f(a = g(1, 2), ...rest: string[]) {}', 'f 1 2'],
    ['function f(this: X, a: Y) {}', 'f 1 1'],
    ['const f = (a, b, c, d) => a;', 'f 0 4'],
    ['const f = async (a: A): Promise<B> => {\n};', 'f 2 1'],
    ['const f = <T>(a: T, b: (c: T, d: T) => void): void => {};', 'f 1 2'],
    ['const o = { f: (a) => {\n\n} };', 'f 3 1'],
    ['const o = { f(a, b) {\n} };', 'f 2 2'],
    ['class A { static async f(a: B): Promise<void> {\n} }', 'f 2 1'],
    ['class A { constructor(a: B) {\n} }', 'constructor 2 1'],
    ['class A { #f(a, b) {} }', 'f 1 2'],
    ['list.map((a, b) => {\n});', '- 2 2'],
    ['type F = (a: A, b: B, c: C, d: D) => void;', 'F 0 4'],
    ["function f() { return '}' + `}${'}'}` + /}/; }\n// }", 'f 1 0'],
  ])('reads %j', (text, expected) => {
    expect(shapes(text)).toContain(expected);
  });

  test.each([
    'if (a) {\n}',
    'for (const a of b) {\n}',
    'while (a) { b(c); }',
    'switch (a) { case f(b): { break; } }',
    'try { f(a, b, c, d); } catch (e) { }',
    'const x = a ? f(b) : { c };',
    'interface A { f(a: B): C; }',
    'new A(b, c, d, e);',
    "import('a');",
  ])('finds no function in %j', (text) => {
    expect(shapes(text)).toEqual([]);
  });

  test('keeps a value before a callback out of it', () => {
    expect(shapes('f(a ? (b) : c, (d) => {\n});')).toEqual(['- 2 1']);
  });
});
