import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visible } from './visible.ts';

describe('visible', () => {
  it.each([
    ['plain text', 'git_push --force', 'git_push --force'],
    ['letters of any script', 'häßlich 推送 🚀', 'häßlich 推送 🚀'],
    ['an ANSI escape', '\u001b[31mred\u001b[0m', '\\u{1b}[31mred\\u{1b}[0m'],
    ['an 8-bit control', '\u009b2J', '\\u{9b}2J'],
    ['line ends', 'a\r\nb\u2028c', 'a\\u{d}\\u{a}b\\u{2028}c'],
    ['a bidirectional override', 'a\u202eb', 'a\\u{202e}b'],
    ['a bidirectional isolate', 'a\u2066b', 'a\\u{2066}b'],
    ['zero-width characters', 'pu\u200bsh\ufeff', 'pu\\u{200b}sh\\u{feff}'],
    ['a tag character', 'a\u{e0041}', 'a\\u{e0041}'],
    ['an invisible letter', 'a\u3164b', 'a\\u{3164}b'],
    ['a lone surrogate', 'a\ud800', 'a\\u{d800}'],
    ['a forged escape', 'a\\u{1b}', 'a\\u{5c}u{1b}'],
    ['other backslashes', 'C:\\users', 'C:\\users'],
  ])('shows %s', (_name, text, expected) => {
    expect(visible(text, 100)).toBe(expected);
  });

  it.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcde…'],
    ['abc\u001b', 6, 'abc…'],
    ['abcd🚀', 6, 'abcd🚀'],
    ['abcd🚀x', 6, 'abcd…'],
    ['anything', 1, '…'],
  ])('cuts %j at %d', (text, lengthMax, expected) => {
    expect(visible(text, lengthMax)).toBe(expected);
  });

  it('is never longer than asked, and never holds what it should hide', () => {
    const anyText = fc.string({ unit: 'binary', maxLength: 60 });
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, lengthMax) => {
        const shown = visible(text, lengthMax);
        expect(shown.length).toBeLessThanOrEqual(lengthMax);
        expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
      }),
    );
  });

  it('shows different texts differently while they fit', () => {
    const text = fc.string({ unit: fc.constantFrom('\\', 'u', '{', '}', '1', 'b', '\u001b', 'a') });
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(visible(left, 10_000) === visible(right, 10_000)).toBe(left === right);
      }),
    );
  });
});
