import { describe, expect, it } from 'vitest';
import { join } from '../../../../test/corpora/parts.ts';
import { isLikelyPassword, isMadeUp, isReference, isWords } from './secret-value.ts';

describe('a value that stands for another', () => {
  it.each([
    '$TOKEN',
    join('$', '{TOKEN}'),
    '$(cat key)',
    '{{ token }}',
    '%TOKEN%',
    '<your-key>',
    'request.headers.get("x")',
    'process.env[name]',
    'credential?.key',
    '{process.env.KEY}',
    'https://a.example/token',
    '^9.0.3',
    '2026-03-14T09:26:53Z',
    'keys/server.pem',
    'undefined',
  ])('is a reference: %s', (value) => {
    expect(isReference(value)).toBe(true);
    expect(isLikelyPassword(value)).toBe(false);
  });

  it.each([join('$ecr', 'et!7Yq'), join('#Pa', '7!kq'), join('m{{h}o)p$', '{e]nob')])(
    'is none because of its signs: %s',
    (value) => {
      expect(isReference(value)).toBe(false);
      expect(isLikelyPassword(value)).toBe(true);
    },
  );
});

describe('words', () => {
  it.each(['foo/system:masters', 'ctx.token', 'Použijte', 'startAuthorization', 'Mutex::new'])(
    'are no password: %s',
    (value) => {
      expect(isWords(value)).toBe(true);
    },
  );

  it('are told from letters that look drawn by lot', () => {
    expect(isWords(join('xqzv', 'bkwjtplg'))).toBe(false);
  });
});

describe('a made-up value', () => {
  it.each([
    'abc123',
    'xyz789',
    'sk-1234',
    'test-key-123',
    'dddfff888123',
    'your-r2-secret-key',
    'super_secret_password123',
    'xxxxxxxxxxxxxxxx',
    join('AKIAIOSFODNN7', 'EXAMPLE'),
  ])('is known by its words and its runs: %s', (value) => {
    expect(isMadeUp(value)).toBe(true);
  });

  it.each([join('wJalrXUtnFEMI/K7MDENG/', 'bPxRfiCYEXAMPLEKEY'), join('AKIAI44QH8DHB', 'EXAMPLE')])(
    'is a sample key as its vendor spells it: %s',
    (value) => {
      expect(isMadeUp(value)).toBe(true);
      expect(isMadeUp(`${value}${join('k7Vw2QLm', '9zXpT4rB')}`)).toBe(false);
    },
  );

  const WORDS = [
    'EXAMPLE',
    'EXAMPLEKEY',
    'example',
    'test',
    'dummy',
    'xxx',
    '123',
    'your_',
    'fake_',
  ];
  it.each(WORDS)('is not made of a random one by the word %s', (word) => {
    for (const random of [
      join('K7vW2qLm', '9zXp'),
      join('k7Vw2QLm9zXp', 'T4rB8nYc1HdG6sJf3UaEo5Wi'),
    ]) {
      expect.soft(isMadeUp(word + random), 'before it').toBe(false);
      expect.soft(isMadeUp(random + word), 'behind it').toBe(false);
    }
  });

  it('is not made by the part of a demo key behind a real one', () => {
    const real = join('xq7Vw2QLm9zXp', 'T4rB8nYc1HdG6');
    expect(isMadeUp(`${real}.eyJpc3MiOiJzdXBhYmFzZS1kZW1v`)).toBe(false);
  });

  it.each([join('zK7', '#vW2q'), join('Qwe123', 'rty9'), join('testy', 'K7vW2qLm9z')])(
    'is not one with enough left: %s',
    (value) => {
      expect(isMadeUp(value)).toBe(false);
    },
  );
});
