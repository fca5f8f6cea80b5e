import { expect, test } from 'vitest';
import { splitWords } from './probe-live.ts';

test.each([
  [['read', 'list'], 'pins accept files read list', ['read', 'list'], []],
  [['read', 'node', 'x.js'], 'pins accept files read -- node x.js', ['read'], ['node', 'x.js']],
  [['node', 'x.js'], 'pins accept files --yes -- node x.js', [], ['node', 'x.js']],
  [['a', '--', 'b'], 'pins accept files -- a -- b', [], ['a', '--', 'b']],
  [[], 'pins accept files --', [], []],
])('of %j, the words behind `--` in `%s` are the command', (words, line, before, command) => {
  const split = splitWords('files', words, line.split(' '));
  expect(split).toEqual({ kind: 'words', server: 'files', before, command });
});

test('a command is never taken for the name of a server', () => {
  expect(splitWords('node', ['x.js'], ['pins', 'diff', '--', 'node', 'x.js'])).toMatchObject({
    kind: 'failure',
    code: 'SUB_USAGE',
  });
});
