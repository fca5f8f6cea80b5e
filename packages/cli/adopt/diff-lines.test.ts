import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import type { Output } from '../terminal/io.ts';
import { diffLines } from './lines.ts';

const output = { colors: picocolors.createColors(false) } as Output;

test('a line that nobody would read is cut, and says how much is left out', () => {
  const long = `${'a'.repeat(3_000)}${'b'.repeat(2_000)}`;
  const [cut = '', short] = diffLines(`+${long}\n-short\n`, output);
  expect(short).toBe('-short');
  expect(cut).toMatch(/^\+a{799} … 3,901 characters are not shown … b{300}$/);
});

test('a line of the length of a hook stays whole', () => {
  const line = `+${'a'.repeat(1_150)}`;
  expect(diffLines(line, output)).toEqual([line]);
});
