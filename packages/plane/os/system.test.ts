import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { thisSystem } from './system.ts';

test.each([
  ['an empty file', 0],
  ['a small file', 10],
  ['a file of exactly one read', 65_536],
  ['a file of many reads', 300_001],
])('%s is read whole', (_, length) => {
  const folder = mkdtempSync(join(tmpdir(), 'sub-system-'));
  try {
    const text = 'é'.repeat(length / 2) + 'x'.repeat(length % 2);
    writeFileSync(join(folder, 'file'), text);
    expect(thisSystem().readFile(join(folder, 'file'))).toBe(text);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a file that cannot be read is undefined', () => {
  expect(thisSystem().readFile(join(tmpdir(), 'no-such-folder', 'file'))).toBe(undefined);
});
