import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/runs.ts';
import { createRedactor } from './redactor.ts';

const VALUE = 'Zq7/+w<é>"9x\\Lm&k 3';
const MARK = '[REDACTED:injected-secret]';

const codeUnits = (text: string) =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
const escapes = (text: string) =>
  codeUnits(text)
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
const percents = (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&');
const padded = (text: string, before: number, after: number) =>
  Buffer.concat([Buffer.alloc(before, 0xa5), Buffer.from(text), Buffer.alloc(after, 0x5a)]);

const ENCODINGS: readonly (readonly [name: string, encode: (value: string) => string])[] = [
  ['raw', (value) => value],
  ['JSON', (value) => JSON.stringify(value).slice(1, -1)],
  ['JSON in JSON', (value) => JSON.stringify(JSON.stringify(value).slice(1, -1)).slice(1, -1)],
  [
    'JSON with slashes escaped',
    (value) => JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/'),
  ],
  ['\\u escapes', escapes],
  ['\\u escapes in upper case', (value) => escapes(value).toUpperCase().replaceAll('\\U', '\\u')],
  ['hex', (value) => Buffer.from(value).toString('hex')],
  ['hex in upper case', (value) => Buffer.from(value).toString('hex').toUpperCase()],
  ['URI component', encodeURIComponent],
  ['every byte percent-encoded', percents],
  ['URI', encodeURI],
  ['form', (value) => new URLSearchParams([['', value]]).toString().slice(1)],
  ['reversed', (value) => [...value].toReversed().join('')],
  ...[0, 1, 2].flatMap((before) =>
    [0, 1, 2].flatMap((after) => [
      [
        `base64 ${before}/${after}`,
        (value: string) => padded(value, before, after).toString('base64'),
      ] as const,
      [
        `base64url ${before}/${after}`,
        (value: string) => padded(value, before, after).toString('base64url'),
      ] as const,
    ]),
  ),
];

const redactorOf = (...values: readonly string[]) =>
  createRedactor({ values: values.map((value, at) => ({ name: `secret-${at}`, value })) });

describe('injected values', () => {
  it.each(ENCODINGS)('finds one in %s', (_name, encode) => {
    const { redact } = redactorOf(VALUE);
    const { text, found } = redact(`before ${encode(VALUE)} behind`);
    expect(found).toEqual(['injected-secret']);
    expect(text).toMatch(/^before \W?\w{0,3}\[REDACTED:injected-secret\]\w{0,3}=* behind$/);
  });

  it('finds each half of a long one, and no part of a short one', () => {
    const { plain } = redactorOf('Zq7tYw2eR9xLmK4p', 'Hk3vB8n');
    expect(plain('a Zq7tYw2e b R9xLmK4p c')).toBe(`a ${MARK} b ${MARK} c`);
    expect(plain('Hk3v B8n')).toBe('Hk3v B8n');
  });

  it('finds one whose newline at the end was stripped', () => {
    expect(redactorOf('Hk3vB8nW\n').plain('is Hk3vB8nW.')).toBe(`is ${MARK}.`);
  });

  it('refuses what is too short by name', () => {
    const values = [
      { name: 'pin', value: '123' },
      { name: 'blank', value: '       \n' },
      { name: 'key', value: '1234' },
    ];
    const { refused, plain } = createRedactor({ values });
    expect(refused).toEqual([
      { name: 'pin', reason: 'too_short' },
      { name: 'blank', reason: 'too_short' },
    ]);
    expect(plain('123 1234')).toBe(`123 ${MARK}`);
  });

  it('refuses what is too long or too many by name', () => {
    const many = Array.from({ length: 129 }, (_, at) => ({ name: `s${at}`, value: `value${at}` }));
    expect(createRedactor({ values: many }).refused).toEqual([
      { name: 's128', reason: 'too_many' },
    ]);
    const large = Array.from({ length: 17 }, (_, at) => ({
      name: `s${at}`,
      value: `${at}`.repeat(65_536).slice(0, 65_536),
    }));
    expect(createRedactor({ values: large }).refused).toEqual([
      { name: 's16', reason: 'too_many' },
    ]);
    const long = [{ name: 'blob', value: 'x'.repeat(65_537) }];
    expect(createRedactor({ values: long }).refused).toEqual([
      { name: 'blob', reason: 'too_long' },
    ]);
  });

  it('is not led astray by a value that is a part of the marker', () => {
    const { plain } = redactorOf('REDACTED', 'injected-secret');
    expect(plain('x REDACTED y')).toBe(`x ${MARK} y`);
    expect(plain(plain('x REDACTED y'))).toBe(`x ${MARK} y`);
  });

  it('is not led astray by a marker that somebody made up', () => {
    expect(redactorOf('hk3vb8nw').plain('[REDACTED:hk3vb8nw]')).toBe(`[REDACTED:${MARK}]`);
  });

  it('hides the beginning of one at the end of a cut text', () => {
    const { plain } = redactorOf('Zq7tYw2eR9xLmK4p');
    for (let length = 4; length <= 16; length++) {
      const cut = `x ${'Zq7tYw2eR9xLmK4p'.slice(0, length)}`;
      expect(plain(cut, { truncated: true })).toBe(`x ${MARK}`);
    }
    expect(plain('x Zq7tYw')).toBe('x Zq7tYw');
    expect(plain('Zq7tYw x', { truncated: true })).toBe('Zq7tYw x');
  });

  it('never lets a random value through in any encoding', () => {
    const value = fc
      .string({ unit: 'grapheme', minLength: 8, maxLength: 40 })
      .filter((text) => text.trim() === text && new Set(text).size > 3 && !MARK.includes(text));
    const around = fc.string({ maxLength: 20 });
    fc.assert(
      fc.property(
        value,
        fc.constantFrom(...ENCODINGS),
        around,
        around,
        (secret, encoding, a, b) => {
          const shown = encoding[1](secret);
          const { plain } = redactorOf(secret);
          const safe = plain(`${a}${shown}${b}`);
          expect(safe).not.toContain(secret);
          expect(safe).not.toContain(shown);
          expect(plain(safe)).toBe(safe);
        },
      ),
      runs(1_000),
    );
  });

  it('keeps JSON valid wherever a value falls', () => {
    // A quote in a value is the same as a quote around a string; all else must not matter.
    const value = fc.string({
      unit: fc.constantFrom('a', 'n', 'u', '0', '\\', '\n', 'é', '/'),
      minLength: 4,
      maxLength: 20,
    });
    fc.assert(
      fc.property(value, fc.array(value), fc.nat(8), (secret, texts, from) => {
        const json = JSON.stringify({
          k: [secret, ...texts, secret.slice(from), JSON.stringify(texts)],
        });
        const ascii = json.replaceAll('é', '\\u00e9');
        const { plain } = redactorOf(secret, ...texts);
        for (const text of [json, ascii])
          expect(() => JSON.parse(plain(text)) as unknown).not.toThrow();
      }),
      runs(300),
    );
  });
});

describe('the user’s patterns', () => {
  const find = (text: string) =>
    [...text.matchAll(/acme-\d+/g)].map(({ index, 0: all }) => ({
      start: index,
      end: index + all.length,
    }));

  it('are redacted under their own name', () => {
    const { redact } = createRedactor({ extra: [{ name: 'Acme ID!', find }] });
    expect(redact('see acme-123.')).toEqual({
      text: 'see [REDACTED:acme-id].',
      found: ['acme-id'],
    });
  });

  it('join with what overlaps them', () => {
    const { plain } = createRedactor({
      values: [{ name: 'x', value: '123-zzzz' }],
      extra: [{ name: 'acme', find }],
    });
    expect(plain('see acme-123-zzzz.')).toBe(`see ${MARK}.`);
  });

  it('may match everything, once', () => {
    const all = (text: string) => [{ start: 0, end: text.length }];
    const { plain } = createRedactor({ extra: [{ name: 'all', find: all }] });
    expect(plain('anything')).toBe('[REDACTED:all]');
    expect(plain(plain('anything'))).toBe('[REDACTED:all]');
  });

  it.each([
    [-1, 2],
    [2, 2],
    [3, 1],
    [0, 99],
    [0.5, 2],
    [Number.NaN, 2],
  ])('are ignored where they name no range: %d to %d', (start, end) => {
    const { plain } = createRedactor({ extra: [{ name: 'odd', find: () => [{ start, end }] }] });
    expect(plain('text')).toBe('text');
  });
});

describe('redacting', () => {
  const PIECES = [
    'password',
    'token',
    '=',
    ': ',
    '"',
    '\\"',
    "'",
    'eyJ',
    '.',
    'abcdefgh1',
    ' ',
    '\n',
    '\\n',
    '://',
    '@',
    'AKIA',
    'ABCDEFGH',
    'sk-',
    'Bearer ',
    'Authorization',
    '-----BEGIN PRIVATE KEY-----',
    '[REDACTED:jwt]',
    '[REDACTED:',
    '\\',
    'Zq7tYw2e',
    ',',
    '{',
    '}',
  ];
  const hostile = fc
    .array(fc.constantFrom(...PIECES), { maxLength: 40 })
    .map((parts) => parts.join(''));

  it('twice changes nothing', () => {
    const { plain } = redactorOf('Zq7tYw2eR9xLmK4p');
    fc.assert(
      fc.property(hostile, fc.boolean(), (text, truncated) => {
        const once = plain(text, { truncated });
        expect(plain(once, { truncated })).toBe(once);
      }),
      runs(3_000),
    );
  });

  it('keeps JSON valid', () => {
    const { plain } = redactorOf('Zq7tYw2eR9xLmK4p');
    fc.assert(
      fc.property(
        fc.dictionary(
          hostile,
          fc.oneof(
            hostile,
            hostile.map((text) => [text]),
            fc.integer(),
          ),
        ),
        (value) => {
          const json = JSON.stringify(value);
          expect(() => JSON.parse(plain(json)) as unknown).not.toThrow();
          const nested = JSON.stringify({ text: json });
          expect(() => JSON.parse(plain(nested)) as unknown).not.toThrow();
        },
      ),
      { ...runs(2_000), examples: [[{ '': -100, "==password'": '' }]] },
    );
  });

  it('gives clean text back as it is', () => {
    const text = 'The quick brown fox reads {"path":"/tmp/a.txt"} twice.\n'.repeat(300);
    expect(redactorOf(VALUE).redact(text)).toEqual({ text, found: [] });
  });

  // Quadratic work on half a megabyte would not end within the test's time.
  it.each([
    'password',
    'password=',
    'password="',
    "password='",
    'token: ',
    'secret:',
    'eyJ',
    'eyJaaaaaa.',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    'A',
    '\\',
    '://',
    '://a:',
    'postgres://a:',
    'AKIA',
    'sk-',
    'sk-ant-',
    'Bearer ',
    'authorization:',
    'SG.aaaaaaaaaaaaaaaa',
    'xoxb-',
    '[REDACTED:',
    '[REDACTED:jwt]',
    'pwd=',
    'hooks.slack.com/services/',
  ])('ends on half a megabyte of %j', (shape) => {
    const { redact } = redactorOf('Zq7tYw2eR9xLmK4p', 'AAAAAAAAAAAAAAAB');
    const text = `{${shape.repeat(Math.ceil(500_000 / shape.length))}`;
    // A cut text asks every pattern, and then the looser one.
    const safe = redact(text, { truncated: true }).text;
    expect(safe.length).toBeLessThanOrEqual(text.length * 4);
  });
});
