import { expect, test } from 'vitest';
import { splitWords } from './probe-live.ts';

test.each([
  [['read', 'list'], 'pins accept files read list', ['read', 'list'], []],
  [['read', 'node', 'x.js'], 'pins accept files read -- node x.js', ['read'], ['node', 'x.js']],
  [['node', 'x.js'], 'pins accept files --yes -- node x.js', [], ['node', 'x.js']],
  [['a', '--', 'b'], 'pins accept files -- a -- b', [], ['a', '--', 'b']],
  [[], 'pins accept files --', [], []],
])('of %j, the words behind `--` in `%s` are the command', (words, line, before, command) => {
  const split = splitWords({ server: 'files', words, options: {} }, line.split(' '));
  const start = { command, remote: undefined };
  const again = command.length === 0 ? [] : ['--', ...command];
  expect(split).toEqual({ kind: 'words', server: 'files', before, start, again });
});

test('a command is never taken for the name of a server', () => {
  const given = { server: 'node', words: ['x.js'], options: {} };
  expect(splitWords(given, ['pins', 'diff', '--', 'node', 'x.js'])).toMatchObject({
    kind: 'failure',
    code: 'SUB_USAGE',
  });
});

const URL = 'https://mcp.example.com/mcp';

test('an address stands for a command, and the next command is told how to reach it', () => {
  const options = { url: URL, header: ['A: b'], 'bearer-env': 'TOKEN' };
  expect(splitWords({ server: 'far', words: [], options }, ['pins', 'diff', 'far'])).toMatchObject({
    start: {
      command: [],
      remote: { url: URL, headers: ['A: b'], headerVariables: [], bearerVariable: 'TOKEN' },
    },
    again: ['--url', URL, '--bearer-env', 'TOKEN', '--header', 'A: b'],
  });
});

test.each([
  ['a command beside it', { server: 'far', words: ['x'], options: { url: URL } }, '-- x'],
  ['no name', { server: '', words: [], options: { url: URL } }, ''],
  ['headers without one', { server: 'far', words: [], options: { header: ['A: b'] } }, ''],
])('an address with %s is refused', (_what, given, line) => {
  expect(splitWords(given, line.split(' '))).toMatchObject({ code: 'SUB_USAGE' });
});
