import { expect, test } from 'vitest';
import { maskedWords } from './masked-words.ts';

function shown(...words: readonly string[]): string {
  return words.map(maskedWords()).join(' ');
}

test.each([
  [['--api-key', 'V'], '--api-key …'],
  [['--token', 'V', 'x'], '--token … x'],
  [['--client-secret', '-V'], '--client-secret …'],
  [['-p', 'V'], '-p …'],
  [['-pV'], '-p…'],
  [['--key=V'], '--key=…'],
  [['-e', 'DB_PASS=V'], '-e DB_PASS=…'],
  [['-e', 'MODE=V'], '-e MODE=…'],
  [['--env=MODE=V'], '--env=MODE=…'],
  [['ACME_KEY=V=V'], 'ACME_KEY=…'],
  [['--header', 'Authorization: Bearer V'], '--header Authorization:…'],
  [['https://h/?a=1&token=V'], 'https://h/?a=1&token=…'],
  [['postgres://me:V@host/db'], 'postgres://…@host/db'],
])('%j becomes %s', (words, expected) => {
  expect(shown(...words)).toBe(expected);
});

test.each([
  [['-y', '@scope/server-files', '/home/me', '--port=80']],
  [['sub.mjs', 'shim', '--server-name', 'auth', '--policy', '/p.yaml', '--', 'npx']],
  [['--no-auth', '--verbose']],
  [['-e', 'console.log(1)']],
])('%j stays', (words) => {
  expect(shown(...words)).toBe(words.join(' '));
});

test('a long word takes no time that grows with its square', () => {
  const word = 'key'.repeat(700_000);
  expect(shown(word)).toBe(word);
  expect(shown(`${word}=V`)).not.toContain('V');
});
