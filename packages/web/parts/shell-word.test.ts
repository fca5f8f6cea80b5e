import { expect, test } from 'vitest';
import { shellWord } from './shell-word.ts';

test('a name in a command is one word of the shell, or is left out', () => {
  expect(shellWord('files', 'SERVER')).toBe('files');
  expect(shellWord('/srv/app-1/x.yaml', 'FILE')).toBe('/srv/app-1/x.yaml');
  expect(shellWord("it's; rm -rf ~ $(x)", 'SERVER')).toBe(String.raw`'it'\''s; rm -rf ~ $(x)'`);
  for (const hostile of ['', '-rf', '--yes', 'a\nb', 'a\tb', '\u001b[2J', 'a\u202eb']) {
    expect(shellWord(hostile, 'SERVER')).toBe('SERVER');
  }
});
