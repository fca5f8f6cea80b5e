import { expect, it } from 'vitest';
import { isToken, lastCharacters, newToken, tokenHash } from './random-tokens.ts';

it('makes tokens of 256 random bits that say what they are', () => {
  for (const kind of ['key', 'invite', 'setup', 'serve'] as const) {
    const token = newToken(kind);
    expect(isToken(kind, token)).toBe(true);
    expect(Buffer.from(token.slice(token.indexOf('-sub-') + 5), 'base64url')).toHaveLength(32);
  }
  expect(newToken('key')).toMatch(/^sk-sub-[\w-]{43}$/);
  expect(new Set(Array.from({ length: 100 }, () => newToken('key'))).size).toBe(100);
});

it('knows a token of another kind, and one that is none', () => {
  const key = newToken('key');
  const wrong = [
    '',
    'sk-sub-',
    key.slice(1),
    `${key}A`,
    key.slice(0, -1),
    `${key} `,
    newToken('invite'),
  ];
  for (const text of wrong) expect(isToken('key', text), text).toBe(false);
});

it('keeps a hash and four characters, from which no key can be made', () => {
  const key = newToken('key');
  expect(tokenHash(key)).toMatch(/^[0-9a-f]{64}$/);
  expect(key.endsWith(lastCharacters(key))).toBe(true);
  expect(lastCharacters(key)).toHaveLength(4);
});
