import { expect, test } from 'vitest';
import { unlikeRun } from './terms.ts';

const HASH = 'a'.repeat(64);
const RUN = { profile: 'production', policy_hash: HASH, policy_reload: 'off' } as const;
const SAME = {
  env: { SUB_RUN_POLICY: '/x/policy.json', SUB_RUN_POLICY_HASH: HASH },
  flags: {},
  config: { profile: 'production', 'policy.reload': 'off' },
} as const;
const development = { ...SAME.config, profile: 'development' } as const;

test('a shim that works as its run does may start', () => {
  expect(unlikeRun(RUN, SAME)).toBeUndefined();
});

test.each([
  ['another profile', { config: development }],
  ['another policy', { env: { ...SAME.env, SUB_RUN_POLICY_HASH: 'b'.repeat(64) } }],
  ['no policy of the run', { env: {} }],
  ['no copy of it', { env: { SUB_RUN_POLICY_HASH: HASH } }],
  ['another way to reload', { config: { ...SAME.config, 'policy.reload': 'any' as const } }],
  [
    'flags that `sub wrap` has written',
    { flags: { wrap: 'w', policy: '/p.yaml', profile: 'x' }, env: {} },
  ],
])('one that has %s may not', (_what, other) => {
  expect(unlikeRun(RUN, { ...SAME, ...other })).toMatch(/end the agent and start it again/);
});

test('what an entry says itself is its own', () => {
  expect(unlikeRun(RUN, { ...SAME, flags: { policy: '/p.yaml' }, env: {} })).toBeUndefined();
  const flags = { profile: 'development' };
  expect(unlikeRun(RUN, { ...SAME, flags, config: development })).toBeUndefined();
});

test('a run in development, or without a policy, and an older hub ask for nothing', () => {
  const other = { ...SAME, env: {}, config: { ...development, 'policy.reload': 'any' } } as const;
  expect(unlikeRun({ ...RUN, profile: 'development' }, other)).toBeUndefined();
  expect(unlikeRun({}, other)).toBeUndefined();
  expect(unlikeRun({ profile: 'production' }, { ...SAME, env: {} })).toBeUndefined();
});
