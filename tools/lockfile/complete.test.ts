import { describe, expect, test } from 'vitest';
import { complete, missingEntries } from './complete.ts';

const lockOf = (name: string, version = '1.2.3') => ({
  '': {},
  'node_modules/tool': { dev: true, optionalDependencies: { [name]: version } },
});

describe('complete', () => {
  test.each([
    ['@tool/darwin-arm64', { cpu: ['arm64'], os: ['darwin'] }],
    ['@tool/cli-linux-x64-musl', { cpu: ['x64'], os: ['linux'], libc: ['musl'] }],
    ['@tool/binding-linux-arm-gnueabihf', { cpu: ['arm'], os: ['linux'], libc: ['glibc'] }],
    ['@tool/binding-android-arm-eabi', { cpu: ['arm'], os: ['android'] }],
    ['@tool/binding-win32-x64-msvc', { cpu: ['x64'], os: ['win32'] }],
    ['@tool/binding-wasm32-wasi', { cpu: ['wasm32'] }],
  ])('adds %s with its platform', (name, platform) => {
    const entry = { version: '1.2.3', dev: true, optional: true, ...platform };
    expect(complete(lockOf(name))[`node_modules/${name}`]).toEqual(entry);
    expect(missingEntries(complete(lockOf(name)))).toEqual([]);
  });

  test('makes nothing up for a name without a platform or a range of versions', () => {
    for (const lock of [lockOf('fsevents'), lockOf('@tool/darwin-arm64', '^1.2.3')]) {
      expect(complete(lock)).toEqual(lock);
      expect(missingEntries(lock)).toHaveLength(1);
    }
  });

  test('keeps what is there, in the order of npm', () => {
    const lock = { ...lockOf('@tool/darwin-arm64'), 'packages/a': { version: '1.0.0' } };
    const completed = complete(lock);
    expect(Object.keys(completed)).toEqual([
      '',
      'node_modules/@tool/darwin-arm64',
      'node_modules/tool',
      'packages/a',
    ]);
    expect(completed).toMatchObject(lock);
  });
});

test('finds a package beside its parent as well as above it', () => {
  const parent = { optionalDependencies: { '@a/linux-x64': '1.0.0' } };
  const nested = 'packages/b/node_modules/a';
  for (const place of [`${nested}/node_modules/`, 'packages/b/node_modules/', 'node_modules/']) {
    expect(missingEntries({ '': {}, [nested]: parent, [`${place}@a/linux-x64`]: {} })).toEqual([]);
  }
  const elsewhere = { '': {}, [nested]: parent, 'packages/c/node_modules/@a/linux-x64': {} };
  expect(missingEntries(elsewhere)).toHaveLength(1);
});
