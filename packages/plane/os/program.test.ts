import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findProgram, realFile } from './program.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-program-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(path: string, mode = 0o755): string {
  const whole = join(folder, path);
  mkdirSync(join(whole, '..'), { recursive: true });
  writeFileSync(whole, '#!/bin/sh\n');
  chmodSync(whole, mode);
  return whole;
}

describe('the program of a bare name', () => {
  test('is the first that PATH leads to', () => {
    const [a, b] = [program('a/x'), program('b/x')];
    const path = (...names: readonly string[]) => names.map((one) => join(folder, one)).join(':');
    expect(findProgram('x', { cwd: '/', path: path('a', 'b') })).toBe(a);
    expect(findProgram('x', { cwd: '/', path: path('none', 'b', 'a') })).toBe(b);
    expect(findProgram('x', { cwd: '/', path: path('none') })).toBeUndefined();
  });

  test('is looked for in the working folder where PATH says so', () => {
    const own = program('repo/x');
    for (const path of ['.', '', 'none:', '../repo'])
      expect(findProgram('x', { cwd: join(folder, 'repo'), path })).toBe(own);
  });

  test('is no folder and no file without the right to run', () => {
    program('a/x', 0o644);
    mkdirSync(join(folder, 'b', 'x'), { recursive: true });
    const last = program('c/x');
    const path = ['a', 'b', 'c'].map((one) => join(folder, one)).join(':');
    expect(findProgram('x', { cwd: '/', path })).toBe(last);
  });
});

test('a name with a slash is looked for from the working folder alone', () => {
  const own = program('repo/bin/x');
  expect(findProgram('bin/x', { cwd: join(folder, 'repo'), path: '/nowhere' })).toBe(own);
  expect(findProgram('./x', { cwd: folder, path: join(folder, 'repo', 'bin') })).toBeUndefined();
});

test('links are followed to the file behind them', () => {
  const real = program('lib/x-1.2');
  symlinkSync(real, join(folder, 'x'));
  expect(realFile(join(folder, 'x'))).toBe(realFile(real));
  expect(realFile(folder)).toBeUndefined();
  expect(realFile('x')).toBeUndefined();
});
