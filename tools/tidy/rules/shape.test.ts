import { expect, test } from 'vitest';
import { readSource } from '../source.ts';
import { shape } from './shape.ts';

const lines = (text: string, path = 'packages/core/a.ts') =>
  shape(readSource({ path, text })).map(({ line }) => line);

test.each([
  "\nexport * from './b.ts';",
  "\nexport * as b from './b.ts';",
  '\nexport default a;',
  '\nexport { a as default };',
  '\nconst a = b as any;',
  '\nfunction a(b: any) {}',
  '\nconst a: Map<any, string> = b;',
  '\nconst a = b as unknown as C;',
  '\n// @ts-ignore',
  '\n/* @ts-nocheck */',
  '\n// @ts-expect-error',
])('refuses %j', (text) => {
  expect(lines(text)).toEqual([2]);
});

test.each([
  "export { a } from './b.ts';",
  "import { default as a } from 'b';",
  'const a = b as unknown;',
  'const a = list.any;',
  "const text = 'export * from x as any';",
  '// as any, export default; @ts-ignore inside a sentence',
])('lets %j pass', (text) => {
  expect(lines(text)).toEqual([]);
});

test('lets a configuration file export its default', () => {
  expect(lines('export default {};', 'vitest.config.ts')).toEqual([]);
});

test('lets a test expect an error of the compiler, and nothing else', () => {
  expect(lines('// @ts-expect-error', 'packages/core/a.test.ts')).toEqual([]);
  expect(lines('// @ts-ignore', 'packages/core/a.test.ts')).toEqual([1]);
});
