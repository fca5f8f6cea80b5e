import { expect, test } from 'vitest';
import { readSource } from '../source.ts';
import { emptyFile, emptyPackages } from './content.ts';

const file = (path: string) => ({ path, text: '' });

test('refuses a package that has only a description and tests', () => {
  const files = [
    file('packages/a/package.json'),
    file('packages/a/b.test.ts'),
    file('packages/ab/package.json'),
    file('packages/ab/b.ts'),
  ];
  expect(emptyPackages(files).map(({ path }) => path)).toEqual(['packages/a/package.json']);
});

test('refuses a file that holds only comments', () => {
  const count = (text: string) => emptyFile(readSource({ path: 'tools/a.ts', text })).length;
  expect(count('// Later.\n')).toBe(1);
  expect(count('// Now.\na;\n')).toBe(0);
});
