import { describe, expect, it } from 'vitest';
import { type Phrase, patternOf, phrase, W } from './phrase.ts';

const UNITS = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit));
/** All that is no ASCII counts as a part of a word. */
const isWord = (unit: string) => unit >= '\u0080' || /[a-z0-9']/i.test(unit);

function matched(pattern: string, textOf: (unit: string) => string): readonly string[] {
  const rule: Phrase = phrase({ id: 'made-up', label: '', keywords: ['a'], pattern });
  const compiled = patternOf(rule);
  return UNITS.filter((unit) => {
    compiled.lastIndex = 0;
    return compiled.test(textOf(unit));
  });
}

describe('the pattern of a phrase', () => {
  it('takes for a space whatever is in no word, and nothing else', () => {
    const spaces = matched('a b', (unit) => `a${unit}b`);
    expect(spaces).toEqual(UNITS.filter((unit) => !isWord(unit)));
  });

  it('takes for one more word whatever is in a word, and nothing else', () => {
    const words = matched(`a${W} b`, (unit) => `a ${unit} b`);
    expect(words).toEqual(UNITS.filter(isWord));
  });
});
