import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { displayWidth } from '../terminal/text.ts';
import { fitted, padded } from './columns.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom('日', 'Ａ', 'e\u0301', '\u001b', 'x', '🙂', '。'),
    maxLength: 60,
  }),
);

test('a text that fits stays as it is', () => {
  expect(fitted('push', 4)).toBe('push');
  expect(fitted('日本', 4)).toBe('日本');
});

test.each([
  ['pushing', 4, 'pus…'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
  ['ＡＢＣ', 4, 'Ａ…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ['a\u001b[2Jb', 5, 'a…'],
  ['anything', 0, ''],
])('the text %j is cut to %i cells', (text, cells, shown) => {
  expect(fitted(text, cells)).toBe(shown);
});

test('a flood of marks is cut, which would take no cell and all of the memory', () => {
  expect(fitted(`a${'\u0301'.repeat(100_000)}`, 10).length).toBeLessThan(100);
  expect(fitted('x'.repeat(100_000), Number.POSITIVE_INFINITY).length).toBeLessThan(10_000);
});

test('a fitted text is never wider than asked, and never acts on a terminal', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, cells) => {
      const shown = fitted(text, cells);
      expect(displayWidth(shown)).toBeLessThanOrEqual(cells);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(displayWidth(padded(text, cells))).toBe(cells);
      expect(displayWidth(padded(text, cells, 'right'))).toBe(cells);
    }),
  );
});
