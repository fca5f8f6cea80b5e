import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvText, tableText } from './table.ts';
import { displayWidth } from './text.ts';

const UNBOUNDED = { width: Number.POSITIVE_INFINITY };

test('columns line up, also with wide characters', () => {
  const columns = [{ title: 'A' }, { title: 'COUNT', right: true }, { title: 'B' }];
  const rows = [
    ['漢字', 1, 'x'],
    ['ab', 1000, null],
  ];
  expect(tableText(columns, rows, UNBOUNDED)).toBe(
    ['A     COUNT  B', '漢字      1  x', 'ab     1000  -', ''].join('\n'),
  );
});

test('a cell stays on its line, and is cut only by a terminal', () => {
  const columns = [{ title: 'T', widthMin: 4 }, 'U'];
  const rows = [[`\u001b[2J\n${'x'.repeat(9_000)}`, 'end']];
  const piped = tableText(columns, rows, UNBOUNDED);
  expect(piped.split('\n')).toHaveLength(3);
  expect(piped).not.toContain('\u001b');
  expect(piped).toContain(`${'x'.repeat(9_000)}  end`);
  expect(tableText(columns, rows, { width: 20 }).split('\n')[1]).toBe('\\u{1b}[2J\\u{a}…  end');
});

test('the widest columns are narrowed first, and ids stay whole', () => {
  const columns = ['ID', { title: 'NAME', widthMin: 4 }, { title: 'WHY', widthMin: 4 }];
  const rows = [['0123456789', 'a-long-name', 'because it was asked for']];
  expect(tableText(columns, rows, { width: 36 })).toBe(
    ['ID          NAME         WHY', '0123456789  a-long-name  because it…', ''].join('\n'),
  );
  expect(tableText(columns, rows, { width: 22 }).split('\n')[1]).toBe('0123456789  a-l…  bec…');
});

test('columns are left out in their order where the others would not fit', () => {
  const columns = ['ID', { title: 'ONE', dropped: 1 }, { title: 'TWO', dropped: 2 }];
  const rows = [['12345', 'first', 'second']];
  const titles = (width: number) => tableText(columns, rows, { width }).split('\n')[0];
  expect([20, 19, 11, 4].map(titles)).toEqual(['ID     ONE    TWO', 'ID     ONE', 'ID', 'ID']);
});

test('extra columns go before the others are cut, and the last ones only where nothing else helps', () => {
  const columns = [
    { title: 'NAME', widthMin: 4, widthGood: 11 },
    { title: 'ID', dropped: 1, leftOutLast: true } as const,
    { title: 'EXTRA', dropped: 2 },
  ];
  const rows = [['a-long-name', '12345', 'x']];
  const row = (width: number) => tableText(columns, rows, { width }).split('\n')[1];
  expect([25, 24, 12, 10].map(row)).toEqual([
    'a-long-name  12345  x',
    'a-long-name  12345',
    'a-lo…  12345',
    'a-long-na…',
  ]);
});

test('no line is wider than the terminal, whatever the cells are', () => {
  const cell = fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), fc.constant('漢字'));
  const column = fc.record(
    {
      title: fc.constantFrom('A', 'LONGER'),
      widthMin: fc.nat(9),
      widthGood: fc.nat(12),
      dropped: fc.nat(3),
      leftOutLast: fc.constant(true as const),
    },
    { requiredKeys: ['title'] },
  );
  const columns = fc.array(column, { minLength: 1, maxLength: 5 });
  const rows = fc.array(fc.array(cell, { maxLength: 5 }), { maxLength: 4 });
  fc.assert(
    fc.property(columns, rows, fc.integer({ min: 1, max: 60 }), (shown, cells, width) => {
      for (const line of tableText(shown, cells, { width }).split('\n')) {
        expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }
    }),
    { numRuns: 50 },
  );
});

test('CSV quotes what has to be quoted and runs nothing', () => {
  const row = ['a,b', 'say "x"', '=1+1', '-2', -2, null, true, 'x\ny'];
  expect(csvText(['h'], [row])).toBe(
    String.raw`h` + '\r\n' + String.raw`"a,b","say ""x""",'=1+1,'-2,-2,,true,x\u{a}y` + '\r\n',
  );
});
