import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/runs.ts';
import { FORMATS } from '../formats/index.ts';
import { createGate } from './gate.ts';
import { createRedactor } from './redactor.ts';

const RULES = FORMATS;
const PROSE = 'Commit first: a crash must not lose an allowed call. {"n":[1,2.5],"ok":true}\\n';
const gate = createGate(RULES);

function isClean(text: string, { before = '', behind = '' } = {}): boolean {
  const bytes = Buffer.from(before + text + behind);
  const start = Buffer.byteLength(before);
  return gate(bytes, start, start + Buffer.byteLength(text));
}

/** What rules are asked about, in the case that they ask for. */
function keywords(): fc.Arbitrary<string> {
  const all = RULES.flatMap((rule) => rule.keywords.map((keyword) => ({ rule, keyword })));
  return fc
    .tuple(fc.constantFrom(...all), fc.boolean())
    .map(([{ rule, keyword }, loud]) => (rule.anyCase && loud ? keyword.toUpperCase() : keyword));
}

describe('the gate', () => {
  it('stops at every keyword, wherever it stands', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const edge = fc.constantFrom(' ', '"', '/', '-', 'é', '\\n', '%2F', '\\u0022');
    const property = fc.property(keywords(), text, edge, text, (keyword, before, sign, behind) => {
      expect(isClean(before + sign + keyword + behind)).toBe(false);
      expect(isClean(keyword + behind)).toBe(false);
    });
    fc.assert(property, runs(5_000));
  });

  it('stops inside of a word only at what may begin a secret there', () => {
    for (const word of ['MODE', 'CODE', 'INTENT', 'spa-day', 'ssl.example', 'monkey-see']) {
      expect(isClean(`a ${word} b`), word).toBe(true);
    }
    expect(isClean('xghp_')).toBe(false);
  });

  it('opens only for what the redactor leaves as it is', () => {
    const { plain } = createRedactor({});
    const part = fc.oneof(
      keywords(),
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('=', ': "', 'aB3dE5gH7jK9mN1pQ2sT4vW6yZ8aB3dE5gH7jK9mN', '_live_', PROSE),
    );
    const property = fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const text = parts.join('');
      expect(!isClean(text) || plain(text, { truncated: true }) === text).toBe(true);
    });
    fc.assert(property, runs(5_000));
  });

  it('opens for plain text of any length', () => {
    for (let length = 0; length <= PROSE.length; length++) {
      expect(isClean(PROSE.slice(0, length))).toBe(true);
    }
    expect(isClean('Grüße, 你好, 😀'.repeat(50))).toBe(true);
  });

  it('does not look beyond the end that it is given', () => {
    expect(isClean('say gh', { behind: 'p_' })).toBe(true);
    expect(isClean('say ghp_', { behind: 'x' })).toBe(false);
    expect(isClean('say ghp_')).toBe(false);
  });

  it('stays shut where a rule has a keyword that it cannot look for', () => {
    const [rule] = RULES;
    if (rule === undefined) throw new Error('there are rules');
    for (const keyword of ['x', 'é…']) {
      expect(createGate([{ ...rule, keywords: [keyword] }])(Buffer.from(PROSE), 0, 9)).toBe(false);
    }
  });
});

describe('isClean', () => {
  it('is true for plain text, and false where a keyword stands', () => {
    const { isClean: looksClean } = createRedactor({});
    expect(looksClean(Buffer.from(PROSE), 0, PROSE.length)).toBe(true);
    expect(looksClean(Buffer.from('password = hunter2'), 0, 18)).toBe(false);
  });

  it('is false where values or patterns are searched as well', () => {
    const withValue = createRedactor({ values: [{ name: 'a', value: 'Zq7wLm9k' }] });
    const withPattern = createRedactor({ extra: [{ name: 'all', find: () => [] }] });
    for (const { isClean: looksClean } of [withValue, withPattern]) {
      expect(looksClean(Buffer.from(PROSE), 0, PROSE.length)).toBe(false);
    }
  });
});
