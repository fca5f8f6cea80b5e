import fc from 'fast-check';
import { expect, test } from 'vitest';
import { displayWidth, harmless, jsonText, shortened, wrapped } from './text.ts';

const anyText = fc.string({ unit: 'binary' });

test('spells out whatever would act on a terminal', () => {
  expect(harmless('a\u001b[31mb\nc\u202ed\u{e0041}')).toBe(
    'a\\u001b[31mb\\nc\\u202ed\\udb40\\udc41',
  );
});

test('leaves no control, direction or invisible character in any text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(harmless(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
  );
});

test('prints JSON that reads back as the same value and holds no control but newlines', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyText, fc.double({ noNaN: true }))), (value) => {
      const text = jsonText(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }),
  );
});

test('counts wide characters twice and combining ones not at all', () => {
  expect(displayWidth('ab')).toBe(2);
  expect(displayWidth('日本')).toBe(4);
  expect(displayWidth('e\u0301')).toBe(1);
});

test('wraps at spaces, keeps every word, and ignores colours when it measures', () => {
  expect(wrapped('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapped('\u001b[31mone\u001b[39m two three', 7)).toEqual([
    '\u001b[31mone\u001b[39m two',
    'three',
  ]);
  expect(wrapped('unbreakable', 3)).toEqual(['unbreakable']);
});

test('cuts long text with an ellipsis inside the limit', () => {
  expect(shortened('abcdef', 4)).toBe('abc…');
  expect(shortened('abcd', 4)).toBe('abcd');
});
