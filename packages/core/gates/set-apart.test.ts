// Injected secrets in disguise: with their letters set apart, or in letters that look like them.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { createRedactor } from '../scan/redact/index.ts';
import { request as asked, call, eventsOf, play } from '../session/playbook.test-support.ts';
import { callOf, OBSERVED, optionsOf, result, textResult } from './guard.test-support.ts';
import { createGuard } from './guard.ts';
import { createLeakFinder } from './leak-finder.ts';

const VALUES: readonly (readonly [kind: string, value: string])[] = [
  ['drawn by lot', 'tk-9fX2qLm8Zr4Wv7Bd1Kp6'],
  ['short and drawn by lot', 'Zq7wLm9k'],
  ['of digits to the base of 16', 'f81ddf02c6b95e4a70c3d2b1967e'],
  ['of words', 'correct-horse-battery'],
  ['of one word', 'hunter2x'],
  ['a number', '4815162342'],
  ['a short number', '481516'],
];
const SEPARATORS: readonly (readonly [name: string, separator: string])[] = [
  ['spaces', ' '],
  ['dots', '.'],
  ['dashes', '-'],
  ['dots and spaces', '. '],
  ['underscores', '_'],
  ['newlines', '\n'],
  ['tabs', '\t'],
  ['zero width spaces', '\u200b'],
  ['word joiners', '\u2060'],
  ['invisible plus signs', '\u2064'],
  ['soft hyphens', '\u00ad'],
  ['grapheme joiners', '\u034f'],
  ['byte order marks', '\ufeff'],
  ['spaces that do not break', '\u00a0'],
  ['ideographic spaces', '\u3000'],
  ['variation selectors', '\ufe0f'],
  ['tags', '\u{e0020}'],
  ['middle dots', '·'],
];

const guardFor = (value: string) => {
  const leaks = createLeakFinder([{ name: 'key', value }]);
  return createGuard(optionsOf({ leaks, enforces: OBSERVED }));
};
const isBlocked = (value: string, text: string) =>
  guardFor(value).content(callOf({ tool: 'post', args: { a: `x, ${text}; y` } }), 0).kind ===
  'stop';

describe.each(VALUES)('a secret %s', (kind, value) => {
  const isShort = kind === 'a short number';
  const separators = SEPARATORS.filter(([, one]) => !isShort || one.length === 1);

  it.each(separators)('is found with its letters set apart by %s', (_, separator) => {
    const text = [...value].join(separator);
    expect(isBlocked(value, text)).toBe(true);
    expect(isBlocked(value, text.toUpperCase())).toBe(true);
    const named = callOf({ tool: text, args: {} });
    expect(guardFor(value).content(named, 0)).toMatchObject({
      decision: { reason_code: 'LEAK_BLOCKED' },
    });
    const passage = guardFor(value).passing('in', result('read', textResult(text)), 0);
    expect(passage.kind).not.toBe('same');
    expect(JSON.stringify(passage)).not.toContain(text.slice(0, -1));
  });

  it.each(separators)('is taken out of names, methods and previews: %s', async (_, separator) => {
    const { plain, isClean } = createRedactor({ values: [{ name: 'key', value }] });
    const config = { redact: plain, isClean };
    const { send } = await play([], { config });
    const text = [...value].join(separator);
    const written = JSON.stringify(text).slice(1, -1);
    const commands = [
      ...send('agent', call(1, text, { note: text, [text]: 1 })),
      ...send('agent', asked(2, text)),
    ];
    expect(eventsOf(commands, 'tool_call_start')).not.toHaveLength(0);
    const kept = JSON.stringify(commands.filter(({ do: what }) => what !== 'forward'));
    for (const form of [text, written, JSON.stringify(written).slice(1, -1)]) {
      expect(kept).not.toContain(form.slice(1, -1));
    }
  });
});

describe('a number', () => {
  const VALUE = '4815162342';
  it.each([
    ['with a point in it', '48151623.42'],
    ['with commas', '4,815,162,342'],
    ['with spaces', '4 815 162 342'],
    ['with thin spaces', '4\u2009815\u2009162\u2009342'],
    ['with apostrophes', "4'815'162'342"],
    ['with underscores', '4_815_162_342'],
    ['in Arabic digits', '٤٨١٥١٦٢٣٤٢'],
    ['in Persian digits', '۴۸۱۵۱۶۲۳۴۲'],
    ['in Devanagari digits', '४८१५१६२३४२'],
    ['in Arabic digits with their separators', '٤٬٨١٥٬١٦٢٬٣٤٢'],
    ['in Bengali digits', '৪৮১৫১৬২৩৪২'],
    ['in Thai digits', '๔๘๑๕๑๖๒๓๔๒'],
    ['in wide digits', '４８１５１６２３４２'],
    ['in bold digits', '𝟒𝟖𝟏𝟓𝟏𝟔𝟐𝟑𝟒𝟐'],
    ['in digits of N’Ko', '߄߈߁߅߁߆߂߃߄߂'],
    ['in digits of Adlam', '𞥔𞥘𞥑𞥕𞥑𞥖𞥒𞥓𞥔𞥒'],
  ])('is found %s', (_, text) => {
    expect(isBlocked(VALUE, text)).toBe(true);
  });

  it.each([
    ['a fraction', 48_151_623.42],
    ['a small one', 0.481_516_234_2],
    ['with an exponent', 4.815162342e5],
    ['in a list', [48, 15, 16, 23, 42]],
    ['as a key', { '48.151623.42': true }],
  ])('is found in JSON: %s', (_, value) => {
    const guard = guardFor(VALUE);
    const verdict = guard.content(callOf({ tool: 'post', args: { value } }), 0);
    expect(verdict.kind).toBe('stop');
    expect(guard.passing('in', result('read', { structuredContent: { value } }), 0).kind).not.toBe(
      'same',
    );
  });

  it.each([
    'the sizes are 48, 151, 623 and 42',
    'from 4815 to 162342 in steps of 10',
    '2024-08-15 16:23:42',
  ])('is not found in others: %s', (text) => {
    expect(isBlocked(VALUE, text)).toBe(false);
  });
});

describe('letters that look like others', () => {
  const VALUE = 'hunter2xyzq';
  const regional = (text: string) =>
    text.replace(/[a-z]/g, (char) => String.fromCodePoint(0x1f1e6 + char.charCodeAt(0) - 97));
  it.each([
    ['regional indicators', regional(VALUE)],
    ['regional indicators, set apart', [...regional(VALUE)].join(' ')],
    ['black squares', [...VALUE.toUpperCase()].map(squared).join('')],
    ['Cherokee', 'ᎻᏌᏁᎢᎬᏒ2ᎲᎩᏃq'],
    ['small Cherokee', 'ꮋꮜꮑꭲꭼꮢ2ꮂꭹꮓq'],
  ])('do not hide a secret: %s', (_, text) => {
    expect(isBlocked(VALUE, text)).toBe(true);
  });

  it('do not hide it behind characters that fold to many letters', () => {
    expect(isBlocked(VALUE, '㍱㎯㏙℡'.repeat(500) + regional(VALUE))).toBe(true);
  });
});

function squared(char: string): string {
  return /[A-Z]/.test(char) ? String.fromCodePoint(0x1f170 + char.charCodeAt(0) - 65) : char;
}

describe('honest text', () => {
  const words = createLeakFinder([
    { name: 'a', value: 'correct-horse-battery' },
    { name: 'b', value: 'hunter2x' },
    { name: 'c', value: '4815162342' },
    { name: 'd', value: 'administrator' },
  ]);
  it.each([
    'The battery of the horse is correct, said the hunter: 2 x 4 is 8.',
    'a correct horse, a battery and 2 hunters',
    'Grüße aus 北京 🇩🇪, и ещё 10 часов; ١٢٣ ٤٥٦',
    'a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9',
    '[1,2,3,4,5,6,7,8,9,10,4,8,15,16,2]',
    'the admin of the admin. istrator',
  ])('passes: %s', (text) => {
    expect(words?.has(text)).toBe(false);
    expect(words?.redact(text)).toBe(text);
  });

  it('passes whatever it is, as long as it holds no secret', () => {
    const property = fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      expect(words?.has(text)).toBe(false);
    });
    fc.assert(property, runs(500));
  });
});
