// Injected values that are broken up, escaped, encoded or cut.
import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { runs } from '../../../../test/runs.ts';
import { createRedactor } from '../redact/redactor.ts';
import { unescaped } from '../text/escapes.ts';

type Encode = (text: string) => string;

const MARK = '[REDACTED:injected-secret]';
/** So much of a value must never be left. */
const PIECE = 12;
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const TOKEN = 'Zq7tYw2eR9xLmK4pA81bnM3vUuI0fG5c';
const PEM_LINES = [
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
  'MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu',
  'NMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s+CLOyS56YyCFGeJZ',
];

const hexOf = (text: string) => Buffer.from(text).toString('hex');
const bytesOf = (text: string) => [...Buffer.from(text)];
const hexByte = (byte: number) => byte.toString(16).padStart(2, '0');
const wrapped = (text: string, columns: number) =>
  text.replaceAll(new RegExp(`.{${columns}}`, 'g'), '$&\n');
const perUnit = (text: string, write: (unit: number, at: number) => string) =>
  Array.from({ length: text.length }, (_, at) => write(text.charCodeAt(at), at)).join('');
const uEscape = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`;

function base32(text: string): string {
  const bits = bytesOf(text)
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  const digits = bits.match(/.{1,5}/g) ?? [];
  return digits
    .map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(digit.padEnd(5, '0'), 2)])
    .join('');
}

/** Go's encoding/json: these four are escaped, and signs like + and ' are not. */
const goJson: Encode = (text) =>
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[<>&\u2028]/g, (char) => uEscape(char.charCodeAt(0)));
const json: Encode = (text) => JSON.stringify(text).slice(1, -1);
const percent: Encode = (text) => encodeURIComponent(text);
const html: Encode = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

/** What hides the characters of a value, one by one. */
const ESCAPES: readonly (readonly [string, Encode])[] = [
  ['as it is', (text) => text],
  ['JSON of Go', goJson],
  ['JSON with slashes escaped', (text) => json(text).replaceAll('/', '\\/')],
  [
    'every second character as \\u',
    (text) =>
      perUnit(text, (unit, at) =>
        at % 2 === 0 || unit === 0x5c ? uEscape(unit) : String.fromCharCode(unit),
      ),
  ],
  [
    'one character as \\u',
    (text) => `${text.slice(0, 5)}${uEscape(text.charCodeAt(5))}${text.slice(6)}`,
  ],
  ['every byte percent-encoded', (text) => hexOf(text).replaceAll(/../g, '%$&')],
  ['a URI component', percent],
  ['decimal HTML references', (text) => perUnit(text, (unit) => `&#${unit};`)],
  ['hex HTML references', (text) => perUnit(text, (unit) => `&#x${unit.toString(16)};`)],
  ['HTML', html],
  [
    '\\x escapes',
    (text) =>
      bytesOf(text)
        .map((byte) => `\\x${hexByte(byte)}`)
        .join(''),
  ],
  [
    'octal escapes',
    (text) =>
      bytesOf(text)
        .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
        .join(''),
  ],
  ['\\u{…} escapes', (text) => perUnit(text, (unit) => `\\u{${unit.toString(16)}}`)],
];

/** What makes other characters of a value. */
const ENCODINGS: readonly (readonly [string, Encode])[] = [
  ['as it is', (text) => text],
  ['in upper case', (text) => text.toUpperCase()],
  ['in lower case', (text) => text.toLowerCase()],
  ['wrapped over lines', (text) => wrapped(text, 7)],
  ['spaced', (text) => [...text].join(' ')],
  ['backwards', (text) => [...text].toReversed().join('')],
  ['hex', hexOf],
  ['hex with colons', (text) => hexOf(text).replaceAll(/..(?=.)/g, '$&:')],
  [
    'hex with spaces',
    (text) =>
      hexOf(text)
        .toUpperCase()
        .replaceAll(/..(?=.)/g, '$& '),
  ],
  ['xxd -p', (text) => wrapped(hexOf(text), 60)],
  ['hex in groups', (text) => wrapped(hexOf(text).replaceAll(/.{4}/g, '$& '), 20)],
  ['hex of UTF-16', (text) => Buffer.from(text, 'utf16le').toString('hex')],
  ['Base64', (text) => Buffer.from(text).toString('base64')],
  [
    'Base64 of 76 columns',
    (text) => wrapped(Buffer.from(`{"token": "${text}"}`.repeat(2)).toString('base64'), 76),
  ],
  ['Base64 for URLs', (text) => Buffer.from(`x${text}`).toString('base64url')],
  [
    'Base64 twice',
    (text) => Buffer.from(Buffer.from(`k=${text}`).toString('base64')).toString('base64'),
  ],
  ['Base64 of UTF-16', (text) => Buffer.from(text, 'utf16le').toString('base64')],
  ['Base32', base32],
  ['bytes in decimal', (text) => `[${bytesOf(text).join(',')}]`],
  ['bytes in decimal, spaced', (text) => bytesOf(text).join(' ')],
  [
    'bytes in hex',
    (text) =>
      bytesOf(text)
        .map((byte) => `0x${hexByte(byte)}`)
        .join(', '),
  ],
];

const redactorOf = (...values: readonly string[]) =>
  createRedactor({ values: values.map((value, at) => ({ name: `secret-${at}`, value })) });

/** The first stretch that is left of what was shown and has twelve characters of the value. */
function leftOf(safe: string, shown: string, value: string): string | undefined {
  const length = Math.ceil((PIECE * shown.length) / value.length);
  for (let at = 0; at + length <= shown.length; at++) {
    const stretch = shown.slice(at, at + length);
    if (safe.includes(stretch)) return stretch;
  }
  const letters = unescaped(safe)
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toLowerCase();
  const pieces = Array.from({ length: value.length - PIECE + 1 }, (_, at) =>
    value.slice(at, at + PIECE).toLowerCase(),
  );
  return pieces.find((piece) => /^[a-z0-9]+$/.test(piece) && letters.includes(piece));
}

/** Whether no stretch repeats itself, as fast-check likes to. */
function isDistinct(text: string): boolean {
  const starts = Array.from({ length: text.length - 7 }, (_, at) => at);
  const stretches = starts.map((at) => text.slice(at, at + 8).toLowerCase());
  return !/(.)\1/i.test(text) && stretches.every((one) => new Set(one).size >= 7);
}

/** Whether no stretch is mostly signs. */
const isWordy = (text: string) => !/\W.{0,6}\W/.test(text);

/** As keys are made: drawn by lot, with a digit here and there. */
const token = fc
  .array(
    fc.tuple(
      fc.constantFrom(...ALNUM),
      fc.constantFrom(...ALNUM),
      fc.constantFrom(...`${ALNUM}+/-_.`),
      fc.constantFrom(...'0123456789'),
    ),
    { minLength: 6, maxLength: 16 },
  )
  .map((parts) => parts.flat().join(''))
  .filter((text) => isDistinct(text) && isWordy(text));

const words = fc
  .array(
    fc.constantFrom(
      'the',
      'file',
      'was',
      'read',
      'twice',
      'and',
      '{"id":',
      '42',
      '"}',
      '\\n',
      'a&b',
      '50%',
      '\n',
    ),
    {
      maxLength: 12,
    },
  )
  .map((parts) => `${parts.join(' ')} `);

describe('a value', () => {
  it.each(ENCODINGS)('is found %s', (_name, encode) => {
    verifies('IP-6.4');
    const { plain } = redactorOf(TOKEN);
    const safe = plain(`before ${encode(TOKEN)} behind`);
    expect(leftOf(safe, encode(TOKEN), TOKEN)).toBeUndefined();
  });

  it.each(ESCAPES)('is found behind escapes: %s', (_name, escape) => {
    verifies('IP-6.4');
    const value = 'Zq7/+w&9xLm\'k3"Rt<5bV>2n\\Hj8';
    const { plain } = redactorOf(value);
    const safe = plain(`before ${escape(value)} behind`);
    expect(safe).toBe(`before ${MARK} behind`);
  });

  it('is found in every encoding behind up to two layers of escapes, wherever it stands', () => {
    const layer = fc.constantFrom(...ESCAPES, ['JSON', json] as const);
    const layers = fc.array(layer, { maxLength: 2 });
    fc.assert(
      fc.property(
        token,
        fc.constantFrom(...ENCODINGS),
        layers,
        words,
        words,
        (value, encoding, around, a, b) => {
          const shown = around.reduce((text, [, escape]) => escape(text), encoding[1](value));
          const safe = redactorOf(value).plain(`${a}${shown} ${b}`);
          expect(leftOf(safe, shown, value)).toBeUndefined();
        },
      ),
      runs(1_500),
    );
  });

  it('is found by any third of it, by twelve characters, and by any longer piece', () => {
    fc.assert(
      fc.property(token, fc.nat(), fc.nat(), words, (value, from, more, text) => {
        const start = from % (value.length - PIECE + 1);
        const piece = value.slice(start, start + PIECE + (more % value.length));
        const { plain } = redactorOf(value);
        const [before, behind] = plain(`${text}"${piece}" ${text}`).split(MARK);
        // A sign at the edge of a piece tells nothing.
        expect(before?.replace(/[+/._-]*$/, '')).toBe(`${text}"`);
        expect(behind?.replace(/^[+/._-]*/, '')).toBe(`" ${text}`);
      }),
      runs(500),
    );
  });

  it('is found with many signs in it', () => {
    const signs = '!#$%&*?@^~';
    const either = fc.constantFrom(...`${ALNUM}${signs}`);
    const value = fc
      .array(fc.tuple(either, either, fc.constantFrom(...`${signs}${signs}0123456789`)), {
        minLength: 10,
        maxLength: 20,
      })
      .map((parts) => parts.flat().join(''))
      .filter(isDistinct);
    fc.assert(
      fc.property(value, fc.constantFrom(...ESCAPES), fc.nat(), (secret, [, escape], from) => {
        const start = from % (secret.length - 20);
        const { plain } = redactorOf(secret);
        const safe = plain(`x ${escape(secret)} y`);
        expect(leftOf(safe, escape(secret), secret)).toBeUndefined();
        expect(plain(`x ${secret.slice(start, start + 20)} y`)).toContain(MARK);
      }),
      runs(500),
    );
  });

  it('is found line by line, whatever the lines end with', () => {
    const pem = `-----BEGIN KEY-----\n${PEM_LINES.join('\n')}\n-----END KEY-----\n`;
    const { plain } = redactorOf(pem);
    for (const line of PEM_LINES) expect(plain(`x ${line} y`)).toBe(`x ${MARK} y`);
    for (const end of ['\r\n', '\\n', '\\r\\n', '\\\\n', ' ', '']) {
      const safe = plain(`{"key":"${PEM_LINES.join(end)}"}`);
      expect(safe).toBe(`{"key":"${MARK}"}`);
    }
  });

  it('that is short is found behind escapes and in other layouts too', () => {
    const { plain } = redactorOf('Hk3vB8nW');
    expect(plain('x \\u0048k3v\\x428n&#87; y')).toBe(`x ${MARK} y`);
    expect(plain('x 48:6B:33:76:42:38:6E:57 y')).toBe(`x ${MARK} y`);
    expect(plain('x %2548k3vB8nW y')).toBe(`x ${MARK} y`);
  });

  it('that holds escapes itself is found behind others', () => {
    const value = 'aX9%41kQ2\\x42zT7&amp;Wm4pL8';
    const { plain } = redactorOf(value);
    for (const [, escape] of ESCAPES) {
      expect(plain(`x ${escape(json(value))} y`)).toBe(`x ${MARK} y`);
    }
  });
});

describe('at the cut of a text', () => {
  it.each(ENCODINGS)('a value is hidden wherever it is cut: %s', (_name, encode) => {
    const { plain } = redactorOf(TOKEN);
    const shown = encode(TOKEN);
    const left = Array.from({ length: shown.length }, (_, end) => {
      const safe = plain(`before ${shown.slice(0, end)}`, { truncated: true });
      return leftOf(safe, shown, TOKEN);
    });
    expect(left.filter((one) => one !== undefined)).toEqual([]);
  });

  it('six characters are hidden, four where it stands as it is', () => {
    const { plain } = redactorOf(TOKEN);
    for (let end = 4; end < TOKEN.length; end++) {
      expect(plain(`x ${TOKEN.slice(0, end)}`, { truncated: true })).toBe(`x ${MARK}`);
    }
    const escaped = perUnit(TOKEN, uEscape);
    for (let end = 4 * 6; end < escaped.length; end++) {
      expect(plain(`x ${escaped.slice(0, end)}`, { truncated: true })).toBe(`x ${MARK}`);
    }
    expect(plain(`x ${hexOf(TOKEN).slice(0, 7)}`, { truncated: true })).toBe(`x ${MARK}`);
  });
});

describe('other text', () => {
  const { plain: asFormats } = createRedactor({});

  it('stays as it is', () => {
    const digest = fc.string({
      unit: fc.constantFrom(...'0123456789abcdef'),
      minLength: 32,
      maxLength: 64,
    });
    const blob = fc.string({
      unit: fc.constantFrom(...`${ALNUM}+/`),
      minLength: 40,
      maxLength: 300,
    });
    const list = fc
      .array(fc.nat(255), { minLength: 10, maxLength: 60 })
      .map((bytes) => JSON.stringify(bytes));
    const any = fc.oneof(
      words,
      digest,
      blob,
      list,
      fc.string({ maxLength: 60 }),
      fc.webUrl(),
      fc.uuid(),
      fc.json(),
    );
    fc.assert(
      fc.property(
        fc.array(token, { minLength: 1, maxLength: 3 }),
        fc.array(any, { maxLength: 8 }),
        (values, parts) => {
          const text = parts.join(' ');
          expect(redactorOf(...values).plain(text)).toBe(asFormats(text));
        },
      ),
      runs(500),
    );
  });

  it.each([
    ['production-database', 'the Production database, a product of data-base work'],
    [
      'production-database-password-of-2024',
      'the production database of 2024, with a password-of-2024',
    ],
    [
      'https://api.example.com/v1/projects/Zq7tYw2eR9xLmK4pA81b',
      'see https://api.example.com/v2, or api.example.com/v1/projects/',
    ],
    [
      'DefaultEndpointsProtocol=https;AccountName=stuff;Key=Zq7tYw2eR9xLmK4pA81b',
      'DefaultEndpointsProtocol=https',
    ],
    ['correct horse battery staple and more', 'a correct horse, a battery, staple and more'],
    [
      '-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
      '-----BEGIN CERTIFICATE-----\n',
    ],
    ['abcdefgh', '[97, 98, 99, 100, 101]'],
  ])('stays as it is beside the value %j', (value, text) => {
    expect(redactorOf(value).plain(text)).toBe(text);
  });

  it('of an address stays where its token goes', () => {
    const { plain } = redactorOf('https://api.example.com/v1/Zq7tYw2eR9xLmK4p');
    const text = 'see api.example.com/v1/ and Zq7tYw2eR9xL, or tYw2eR9xLmK4p';
    expect(plain(text)).toBe(`see api.example.com/v1/ and ${MARK}, or ${MARK}`);
  });

  it('between pieces stays', () => {
    const { plain } = redactorOf(TOKEN);
    expect(plain(`{"a":"${TOKEN.slice(0, 14)}","b":"${TOKEN.slice(14)}"}`)).toBe(
      `{"a":"${MARK}","b":"${MARK}"}`,
    );
  });
});

describe('JSON', () => {
  it('stays valid where a list of bytes goes', () => {
    const { plain } = redactorOf(TOKEN);
    const bytes = [1, 2, ...bytesOf(TOKEN), 3, 4];
    const text = JSON.stringify(
      { data: bytes, more: [bytes, 'x'], text: JSON.stringify(bytes) },
      null,
      1,
    );
    const safe = plain(text);
    expect(safe).toContain(`"${MARK}"`);
    expect(() => JSON.parse(safe) as unknown).not.toThrow();
  });

  it('stays valid however a value is encoded in it', () => {
    fc.assert(
      fc.property(
        token,
        fc.constantFrom(...ENCODINGS),
        fc.constantFrom(...ESCAPES),
        words,
        (value, [, encode], [, escape], text) => {
          const inner = JSON.stringify([`${text}${escape(encode(value))}`, encode(value), text]);
          const safe = redactorOf(value).plain(
            JSON.stringify({ [text]: inner, value: encode(value) }),
          );
          expect(() => JSON.parse(safe) as unknown).not.toThrow();
        },
      ),
      runs(500),
    );
  });
});

describe('hostile text', () => {
  // Quadratic work on half a megabyte would not end within the test's time.
  it.each([
    'A',
    'AB',
    '\\u0041',
    '%41',
    '%2541',
    '&#65;',
    '\\',
    '\\\\',
    '%',
    '&',
    'A ',
    'Zq7tYw',
    'Zq7tYw2eR9x',
    '0x41,',
    '65,',
  ])('ends on half a megabyte of %j', (shape) => {
    const { plain } = redactorOf(
      'A'.repeat(4_000),
      `${'A'.repeat(100)}B`,
      'AB'.repeat(40),
      TOKEN,
      'Zq7tYw2eR9x'.repeat(9),
    );
    const text = shape.repeat(Math.ceil(500_000 / shape.length));
    expect(plain(text, { truncated: true }).length).toBeLessThanOrEqual(text.length * 4);
  });
});
