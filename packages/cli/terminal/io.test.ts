import { expect, test } from 'vitest';
import { columnsIn, knownColumns, wantsColor } from './io.ts';

const cases = [
  { name: 'a terminal gets colours', isTerminal: true, want: true },
  { name: 'a pipe gets none', isTerminal: false, want: false },
  { name: 'a pipe in CI gets none', isTerminal: false, env: { CI: 'true' }, want: false },
  { name: 'NO_COLOR takes them away', isTerminal: true, env: { NO_COLOR: '1' }, want: false },
  { name: 'an empty NO_COLOR says nothing', isTerminal: true, env: { NO_COLOR: '' }, want: true },
  { name: 'FORCE_COLOR gives them to a pipe', env: { FORCE_COLOR: '1' }, want: true },
  {
    name: 'FORCE_COLOR=0 takes them away',
    isTerminal: true,
    env: { FORCE_COLOR: '0' },
    want: false,
  },
  { name: 'NO_COLOR beats FORCE_COLOR', env: { NO_COLOR: '1', FORCE_COLOR: '1' }, want: false },
  { name: '--no-color beats FORCE_COLOR', flag: true, env: { FORCE_COLOR: '1' }, want: false },
  { name: 'a dumb terminal gets none', isTerminal: true, env: { TERM: 'dumb' }, want: false },
];

test.each(cases)('$name', ({ isTerminal = false, flag = false, env = {}, want }) => {
  expect(wantsColor({ isTerminal, noColorFlag: flag, env })).toBe(want);
});

test.each([
  ['80', 80],
  ['1', 1],
  ['0', undefined],
  ['', undefined],
  ['wide', undefined],
  ['-5', undefined],
  ['99999', undefined],
])('COLUMNS=%s is a width of %s', (COLUMNS, columns) => {
  expect(columnsIn({ COLUMNS })).toBe(columns);
});

test('a terminal of no columns has an unknown width', () => {
  expect(knownColumns({ columns: 0 })).toBeUndefined();
  expect(knownColumns({})).toBeUndefined();
  expect(knownColumns({ columns: 80 })).toBe(80);
});
