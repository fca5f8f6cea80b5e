import { parseCallSearch } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { queryCommand } from './query-command.ts';
import { rangeOf } from './ranges.ts';

test.each([
  ['', {}, 'sub query --since 24h'],
  ['tool:git_* decision:refused', { since: 'all' }, "sub query --tool 'git_*' --decision REFUSED"],
  ['it\u001b[201~', {}, 'sub query --text TEXT --since 24h'],
  ["since:2h it's", {}, String.raw`sub query --since 2h --text 'it'\''s'`],
  ['tool:"a\u202eb" text:"--json"', { since: 'all' }, 'sub query --tool TOOL --text TEXT'],
  [
    '',
    { from: '0', to: '1000' },
    'sub query --since 1970-01-01T00:00:00.000Z --until 1970-01-01T00:00:01.000Z',
  ],
])('the search %j is a command', (text, params, expected) => {
  const search = parseCallSearch(text, 0);
  expect(queryCommand({ text, search, range: rangeOf(params) })).toBe(expected);
});
