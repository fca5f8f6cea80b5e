import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { harmless, harmlessAround, harmlessJson, shellWord, visible } from './visible.ts';

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
    ['a command at the start', '::error::x', '\\u{3a}:error::x'],
    ['a command behind space', ' \u3000::error::x', ' \u3000\\u{3a}:error::x'],
    ['a command where a line may be broken', 'a ::stop', 'a \\u{3a}:stop'],
    ['colons in a word', 'a::b', 'a::b'],
    ['a command of two signs', 'a##[error]', 'a\\u{23}#[error]'],
    ['a command with a name', '##vso[x] ##teamcity[y]', '\\u{23}#vso[x] \\u{23}#teamcity[y]'],
    ['a command behind more signs', '###[x', '#\\u{23}#[x'],
    ['headings', '## a [b]', '## a [b]'],
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

const pieces = fc.constantFrom(
  ':',
  '::',
  '#',
  '##',
  '[',
  'vso[',
  ' ',
  'a',
  '\\',
  'u{',
  '\u001b',
  '\u200b',
);
const hostile = fc.oneof(
  fc.array(pieces).map((all) => all.join('')),
  fc.string({ unit: 'binary' }),
);
const HARMFUL = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|##\w*\[|(^|\s)::/u;

describe('harmless', () => {
  it('leaves nothing that acts, and changes nothing when done again', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = harmless(text);
        expect(shown).not.toMatch(HARMFUL);
        expect(harmless(shown)).toBe(shown);
        expect(harmless(visible(text, 1_000))).toBe(visible(text, 1_000));
      }),
    );
  });

  it('is the same in two parts as in one', () => {
    fc.assert(
      fc.property(hostile, fc.nat(20), (text, place) => {
        expect(harmlessAround(text, place).join('')).toBe(harmless(text));
      }),
    );
    expect(harmlessAround('\u001bab', 2)).toEqual(['\\u{1b}a', 'b']);
    expect(harmlessAround('a##[b', 2)).toEqual(['a\\u{23}', '#[b']);
  });

  it('keeps JSON what it is', () => {
    fc.assert(
      fc.property(hostile, hostile, (key, text) => {
        const json = harmlessJson(JSON.stringify({ [key]: [text] }, null, 1));
        expect(JSON.parse(json)).toEqual({ [key]: [text] });
        for (const line of json.split('\n')) {
          expect(line).not.toMatch(/[\p{C}\p{Zl}\p{Default_Ignorable_Code_Point}]|##\w*\[|^\s*::/u);
        }
      }),
    );
  });
});

it.each([
  ['/srv/a-b_c.json', '/srv/a-b_c.json'],
  ['', "''"],
  ['a b', "'a b'"],
  ['$(x)', "'$(x)'"],
  ["it's", "'it'\\''s'"],
  ['a\u001bb', "'a\\u{1b}b'"],
])('the shell word for %j is %s', (word, shown) => {
  expect(shellWord(word)).toBe(shown);
});
