import { expect, test } from 'vitest';
import { likely, nearest } from '../text/nearest.ts';
import { formatProblem } from './problem.ts';

test('formats a problem as one line that an editor can jump to', () => {
  const line = formatProblem({
    level: 'error',
    code: 'SUB_BUNDLE_UNKNOWN_KIND',
    file: 'policy.yaml',
    position: { line: 12, column: 5 },
    path: 'rules[0].kind',
    message: 'unknown kind `rate-limit`; did you mean `rate_limit`?',
    fix: 'Write `kind: rate_limit`.',
  });
  expect(line).toBe(
    'policy.yaml:12:5: error: unknown kind `rate-limit`; did you mean `rate_limit`? ' +
      'Write `kind: rate_limit`. [SUB_BUNDLE_UNKNOWN_KIND]',
  );
});

const KINDS = ['allow', 'deny', 'budget', 'rate_limit', 'breaker', 'dedupe', 'tag'];

test.each([
  ['rate-limit', 'rate_limit'],
  ['rateLimit', 'rate_limit'],
  ['Rate Limit', 'rate_limit'],
  ['ratelimt', 'rate_limit'],
  ['alow', 'allow'],
  ['DENY', 'deny'],
  ['tags', 'tag'],
  ['dney', 'deny'],
  ['allwo', 'allow'],
  ['bugdet', 'budget'],
  ['edny', 'deny'],
])('takes %s for %s', (word, meant) => {
  expect(nearest(word, KINDS)).toBe(meant);
});

test.each(['throttle', '', 'x', 'yned', 'at', 'quota_per_moon', 'rate_limit_with_a_long_tail'])(
  'suggests nothing for "%s"',
  (word) => {
    expect(nearest(word, KINDS)).toBeUndefined();
  },
);

test('prefers the nearest of several words that are near', () => {
  expect(nearest('limit_call', ['limit_cells', 'limit_calls'])).toBe('limit_calls');
});

test('stays cheap for a word of any length', () => {
  expect(nearest('x'.repeat(1_000_000), KINDS)).toBeUndefined();
});

test('takes two words of two letters for different ones', () => {
  expect(['di', 'ic', 'cd'].map((word) => nearest(word, ['ci']))).toEqual(Array(3).fill(undefined));
});

test('knows words with swapped letters in fields', () => {
  expect(nearest('mtach', ['rule_id', 'match', 'when', 'effect'])).toBe('match');
});

test.each([
  ['production', ['dev', 'ci', 'prod', 'unknown'], 'prod'],
  ['claude-code', ['claude', 'codex', 'custom'], 'claude'],
  ['tool', ['server_name', 'tool_name'], 'tool_name'],
  ['tools', ['server_name', 'tool_name'], 'tool_name'],
  ['id', ['policy_id', 'version'], 'policy_id'],
  ['name', ['server_name', 'tool_name'], undefined],
  ['staging', ['dev', 'ci', 'prod', 'unknown'], undefined],
  ['s', ['dev', 'ci'], undefined],
])('takes %s among %j for %s', (word, known, meant) => {
  expect(likely(word, known)).toBe(meant);
});
