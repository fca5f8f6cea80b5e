import { expect, test } from 'vitest';
import { csvText, tableText } from './table.ts';

const plain = (line: string) => line;

test('columns line up, also with wide characters', () => {
  const columns = [{ title: 'A' }, { title: 'COUNT', right: true }, { title: 'B' }];
  const rows = [
    ['漢字', 1, 'x'],
    ['ab', 1000, null],
  ];
  expect(tableText(columns, rows, plain)).toBe(
    ['A     COUNT  B', '漢字      1  x', 'ab     1000  -', ''].join('\n'),
  );
});

test('a cell stays on its line and within its width', () => {
  const text = tableText(
    [{ title: 'T', lengthMax: 12 }],
    [[`\u001b[2J\n${'x'.repeat(99)}`]],
    plain,
  );
  expect(text.split('\n')).toHaveLength(3);
  expect(text).not.toContain('\u001b');
  expect(text.split('\n')[1]).toHaveLength(12);
});

test('CSV quotes what has to be quoted and runs nothing', () => {
  const row = ['a,b', 'say "x"', '=1+1', '-2', -2, null, true, 'x\ny'];
  expect(csvText(['h'], [row])).toBe(
    String.raw`h` + '\r\n' + String.raw`"a,b","say ""x""",'=1+1,'-2,-2,,true,x\u{a}y` + '\r\n',
  );
});
