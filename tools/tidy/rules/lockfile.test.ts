import { expect, test } from 'vitest';
import { readSource } from '../source.ts';
import { lockfile } from './lockfile.ts';

const messages = (packages: unknown, path = 'package-lock.json') =>
  lockfile(readSource({ path, text: JSON.stringify({ packages }) })).map(({ message }) => message);

const parent = { optionalDependencies: { '@a/linux-x64': '1.0.0', '@a/darwin-x64': '1.0.0' } };

test('refuses a lockfile without the package of some platform', () => {
  const packages = { '': {}, 'node_modules/a': parent, 'node_modules/@a/linux-x64': {} };
  expect(messages(packages)).toEqual([
    '@a/darwin-x64 missing, npm ci will fail; run `npm run lockfile`',
  ]);
});

test('lets a complete lockfile pass', () => {
  const packages = {
    '': {},
    'node_modules/a': parent,
    'node_modules/@a/linux-x64': {},
    'node_modules/@a/darwin-x64': {},
  };
  expect(messages(packages)).toEqual([]);
});

test('refuses what is no lockfile, and looks at no other file', () => {
  expect(messages(undefined)).toHaveLength(1);
  expect(messages(undefined, 'docs/package-lock.json')).toEqual([]);
});
