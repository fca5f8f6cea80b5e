import { describe, expect, it } from 'vitest';
import { type Keywords, keywordStart, keywordTable } from './keyword-table.ts';

/** Finds the rule and the place of every keyword in a text, in the order in which they end. */
function finderOf(rules: readonly Keywords[]): (text: string) => readonly string[] {
  const { classes, next, ending } = keywordTable(rules);
  return (text) => {
    const places: string[] = [];
    let state = 0;
    for (let at = 0; at < text.length; at++) {
      state = next[((state & ~1) << 5) + (classes[text.charCodeAt(at) & 0xff] ?? 0)] ?? 0;
      for (const keyword of ending.get(state) ?? []) {
        const start = keywordStart(text, at + 1, keyword);
        if (start >= 0) places.push(`${rules[keyword.rule]?.name} ${start}`);
      }
    }
    return places;
  };
}

const rule = (name: string, keywords: readonly string[], more: Partial<Keywords> = {}) => ({
  name,
  keywords,
  anyCase: false,
  ...more,
});

describe('a table of keywords', () => {
  it('finds keywords inside of others, the longest first', () => {
    const rules = [rule('short', ['he']), rule('long', ['she', 'hers']), rule('other', ['he'])];
    expect(finderOf(rules)('ushers')).toEqual(['long 1', 'short 2', 'other 2', 'long 2']);
  });

  it('tells upper and lower case apart where a rule does', () => {
    const rules = [rule('any', ['Key'], { anyCase: true }), rule('exact', ['Key'])];
    expect(finderOf(rules)('KEY Key')).toEqual(['any 0', 'any 4', 'exact 4']);
  });

  it('finds a keyword with an edge only where no word goes on before it', () => {
    const rules = [rule('edge', ['sk-'], { edge: true })];
    expect(finderOf(rules)('sk- ask- \\nsk-')).toEqual(['edge 0', 'edge 11']);
  });

  it('takes no text for a keyword whose units share their classes with those of the keyword', () => {
    const units = Array.from({ length: 200 }, (_, index) => String.fromCharCode(0x21 + index));
    const find = finderOf(units.map((unit) => rule(unit, [unit + unit])));
    for (const unit of units) {
      expect(find(unit + unit), unit).toEqual([`${unit} 0`]);
      expect(find(` ${unit}`), unit).toEqual([]);
    }
  });

  it('numbers more nodes than 15 bits hold', () => {
    const keywords = Array.from({ length: 700 }, (_, index) => `<${index}>${'ab'.repeat(30)}`);
    const text = `x${keywords[699]}y${keywords[7]}`;
    const places = ['many 1', `many ${text.indexOf('y') + 1}`];
    expect(finderOf([rule('many', keywords)])(text)).toEqual(places);
  });

  it('has no empty keyword', () => {
    expect(() => keywordTable([rule('none', [''])])).toThrow('the rule none has an empty keyword');
  });
});
