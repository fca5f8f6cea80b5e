import { visible } from '@subluminal/core/visible';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  displayWidth,
  durationText,
  fitted,
  fittedInside,
  hanging,
  harmless,
  jsonText,
  padded,
  shortened,
  wrapped,
} from './text.ts';

const anyText = fc.string({ unit: 'binary' });

test('characters that act on a terminal are spelled out', () => {
  expect(harmless('a\u001b[31mb\nc\u202ed\u{e0041}')).toBe(
    'a\\u{1b}[31mb\\u{a}c\\u{202e}d\\u{e0041}',
  );
});

test('escapes are spelled as in the policy core, so that one output has one spelling', () => {
  const hostile = '::x\u001b[2J\u202e\n\t\u3164\ue000##vso[x]##[y] ::z\ud800';
  expect(harmless(hostile)).toBe(visible(hostile, 200));
});

test('harmless text has no control, direction or invisible character', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(harmless(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
  );
});

test('printed JSON reads back as the same value and has no control characters but newlines', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyText, fc.double({ noNaN: true }))), (value) => {
      const text = jsonText(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(text.replaceAll('\n', '')).not.toMatch(
        /[\p{C}\p{Zl}\p{Default_Ignorable_Code_Point}]/u,
      );
    }),
  );
});

test('printed JSON gives a build server no command and reads back the same', () => {
  const value = { '##[x]': ['::error::', '##vso[task]', '###[', 'a\n::stop::', '\u3164'] };
  const text = jsonText(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).not.toMatch(/##\w*\[|^\s*::/m);
});

test('wide characters count twice and combining ones not at all', () => {
  expect(displayWidth('ab')).toBe(2);
  expect(displayWidth('日本')).toBe(4);
  expect(displayWidth('e\u0301')).toBe(1);
});

test.each([
  ['ＡＢ！', 6],
  ['「々〇」', 8],
  ['￥１', 4],
  ['ｱﾊﾟ', 3],
  ['か\u3099', 2],
])('the width of %j follows from the form of its letters: %i cells', (text, cells) => {
  expect(displayWidth(text)).toBe(cells);
});

test('text is wrapped at spaces, keeps every word, and is measured without colours', () => {
  expect(wrapped('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapped('\u001b[31mone\u001b[39m two three', 7)).toEqual([
    '\u001b[31mone\u001b[39m two',
    'three',
  ]);
  expect(wrapped('unbreakable', 3)).toEqual(['unbreakable']);
});

test('a hanging text begins beside its head, and goes on below itself', () => {
  const lines = ['\u001b[31mname\u001b[39m  one two three four five', '      six'];
  expect(hanging('\u001b[31mname\u001b[39m  ', 'one two three four five six', 30)).toEqual(lines);
  expect(hanging('name  ', 'a\u0007b', 0)).toEqual(['name  a\\u{7}b']);
});

test('long text is cut with an ellipsis inside the limit', () => {
  expect(shortened('abcdef', 4)).toBe('abc…');
  expect(shortened('abcd', 4)).toBe('abcd');
});

test.each([
  [1, '1 ms'],
  [1_500, '1500 ms'],
  [2_000, '2 s'],
  [90_000, '90 s'],
  [600_000, '10 min'],
  [7_200_000, '2 h'],
])('%i ms is printed as %s', (durationMs, text) => {
  expect(durationText(durationMs)).toBe(text);
});

const anyWidth = fc.oneof(
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

test.each([
  ['path=src/x.ts', 20, 'path=src/x.ts'],
  ['path=/home/me/app/src/x.ts', 18, 'path=…app/src/x.ts'],
  ['日本語の長い名前', 9, '日…い名前'],
])('the text %j is cut inside to %i cells', (text, cells, shown) => {
  expect(fittedInside(text, cells)).toBe(shown);
});

test('a flood of marks is cut, which would take no cell and all of the memory', () => {
  expect(fitted(`a${'\u0301'.repeat(100_000)}`, 10).length).toBeLessThan(100);
  expect(fitted('x'.repeat(100_000), Number.POSITIVE_INFINITY).length).toBeLessThan(10_000);
});

test('a fitted text is never wider than asked, and never acts on a terminal', () => {
  fc.assert(
    fc.property(anyWidth, fc.integer({ min: 1, max: 40 }), (text, cells) => {
      const shown = fitted(text, cells);
      expect(displayWidth(shown)).toBeLessThanOrEqual(cells);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(displayWidth(fittedInside(text, cells))).toBeLessThanOrEqual(cells);
      expect(displayWidth(padded(text, cells))).toBe(cells);
      expect(displayWidth(padded(text, cells, 'right'))).toBe(cells);
    }),
  );
});
