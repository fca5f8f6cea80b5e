import { expect, test } from 'vitest';
import { secretLooks } from './plain-secrets.ts';

const github = ['ghp', '_', 'x7Kq2mN9pR4sT6vW8yZ1bC3dF5gH7jL9qX2a'].join('');

test.each([
  ['ANYTHING', github, 'github-token'],
  ['DATABASE_URL', 'postgres://me:p4ssw0rd@db/x', 'database-url'],
  ['ACME_TOKEN', 'Zq7tYw2eR9xLmK4p', 'named like a secret'],
  ['ACME_API_KEY', '9f86d081884c7d659a2feaa0c55ad015', 'named like a secret'],
  ['acme_secret', 'tok-5f0c1d9e7a33b2', 'named like a secret'],
  ['DB_PASSWORD', 'Summer2024!', 'named like a secret'],
  ['PGPASSWORD', 'kd83-Hw', undefined],
  ['KEY', 'kd83-Hw1', 'named like a secret'],
])('%s=%s is %s', (variable, value, expected) => {
  expect(secretLooks(variable, value)).toBe(expected);
});

test.each([
  ['a reference', 'ACME_TOKEN', `\${ACME_TOKEN}`],
  ['an input', 'ACME_TOKEN', `\${input:acme-token-1}`],
  ['a reference with a default', 'ACME_TOKEN', `\${A:-tok-5f0c1d9e7a33b2}`],
  ['a variable', 'ACME_TOKEN', '$ACME_TOKEN_1'],
  ['a path', 'ACME_KEY', '/home/me/keys/acme1.bin'],
  ['the name of a file', 'ACME_KEY', 'acme1-prod.pem'],
  ['an address', 'TOKEN_URL', 'https://id.example.org/oauth2/token1'],
  ['a number', 'MAX_TOKENS', '1000000000'],
  ['words', 'ACME_TOKEN', 'production'],
  ['an invitation', 'ACME_TOKEN', 'your-token-here-123'],
  ['another name', 'MODEL', 'Zq7tYw2eR9xLmK4p'],
  ['an id', 'ACME_KEY_ID', 'Zq7tYw2eR9xLmK4p'],
  ['what holds a NUL', 'ACME_TOKEN', 'Zq7tYw2e\0R9xLmK4p'],
  ['what is too large', 'ACME_TOKEN', 'Zq7tYw2e'.repeat(10_000)],
])('%s is none', (_, variable, value) => {
  expect(secretLooks(variable, value)).toBeUndefined();
});
