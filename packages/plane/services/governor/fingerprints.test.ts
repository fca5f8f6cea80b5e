import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fingerprintsIn } from './fingerprints.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-fingerprints-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it('gives one value the same fingerprint wherever the home is used', () => {
  const first = fingerprintsIn(home);
  const second = fingerprintsIn(home);
  expect(first.of('value')).toMatch(/^[0-9a-f]{16}$/);
  expect(second.of('value')).toBe(first.of('value'));
  expect(second.of('other')).not.toBe(first.of('value'));
  expect([first.areKept(), second.areKept()]).toEqual([true, true]);
  expect(readdirSync(home)).toEqual(['fingerprint.key']);
});

it('gives it another one in another home', () => {
  const other = join(home, 'other');
  const here = fingerprintsIn(home).of('value');
  expect(fingerprintsIn(other).of('value')).not.toBe(here);
});

it('makes no key before there is something to name', () => {
  fingerprintsIn(home);
  expect(readdirSync(home)).toEqual([]);
});

it('a key that cannot be saved is reported as such, and stays the same meanwhile', () => {
  const prints = fingerprintsIn(join(home, 'missing'));
  expect(prints.of('value')).toBe(prints.of('value'));
  expect(prints.areKept()).toBe(false);
});

it('uses no key that was damaged, and leaves the file as it is', () => {
  const path = join(home, 'fingerprint.key');
  writeFileSync(path, 'short');
  const prints = fingerprintsIn(home);
  expect(prints.of('value')).not.toBe(fingerprintsIn(home).of('value'));
  expect(prints.areKept()).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('short');
  expect(readdirSync(home)).toEqual(['fingerprint.key']);
});
