import { expect, test } from 'vitest';
import { completed, completionsAt } from './completions.ts';

const KNOWN = { tool: ['git_log', 'read_file', 'a "b" *'], agent: ['fixer'] };

function labels(text: string, caret = text.length) {
  return completionsAt(text, caret, KNOWN).items.map(({ label }) => label);
}

test.each([
  ['to', ['tool:']],
  ['tool:gi', ['git_log']],
  ['tool:FILE', ['read_file']],
  ['decision:re', ['refused']],
  ['tool:x agent:', ['fixer']],
  ['tool:git_log "to', []],
  ['nothing:x', []],
])('behind %s there can be %j', (text, expected) => {
  expect(labels(text)).toEqual(expected);
});

test('an empty field offers the keys', () => {
  expect(labels('')).toContain('decision:');
});

test('the word at the caret is replaced, and a name is meant as it is', () => {
  const text = 'tool:b status:ok';
  const found = completionsAt(text, 6, KNOWN);
  const [item] = found.items;
  expect(item && completed(text, found, item)).toEqual({
    text: String.raw`tool:"a \"b\" \\*" status:ok`,
    caret: 19,
  });
});
