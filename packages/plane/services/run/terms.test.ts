import { expect, test } from 'vitest';
import { sharedSettings } from '../../stores/runs/shared-settings.ts';
import { looseWithoutHub, unlikeRun } from './terms.ts';

const HASH = 'a'.repeat(64);
const CONFIG = {
  profile: 'production',
  'policy.reload': 'off',
  'policy.path': '/p.yaml',
  'events.sink': { kind: 'file', path: '/x/events' },
  'ledger.socket': '/x/ledger.sock',
  'pins.mode': 'on',
  'surface.manifests': '/x/manifests',
  'limits.max_inspect_bytes': 1,
  'limits.max_message_bytes': 1,
  'limits.max_preview_bytes': 1,
  'previews.enabled': true,
  'redact.extra_patterns': ['a'],
} as const;
const RUN = {
  profile: 'production',
  policy_hash: HASH,
  policy_reload: 'off',
  settings: sharedSettings(CONFIG, '/x'),
} as const;
const SAME = {
  serverName: 'files',
  env: { SUB_RUN_POLICY: '/x/policy.json', SUB_RUN_POLICY_HASH: HASH, SUB_POLICY: '/p.yaml' },
  flags: {},
  words: ['--server-name', 'files', '--', 'server'],
  config: CONFIG,
  home: '/x',
  isWritten: () => Promise.resolve(false),
} as const;
const development = { ...CONFIG, profile: 'development' } as const;
const isWritten = () => Promise.resolve(true);

test('a shim that works as its run does may start', async () => {
  expect(await unlikeRun(RUN, SAME)).toBeUndefined();
});

test.each([
  ['another profile', { config: development }],
  ['another policy', { env: { ...SAME.env, SUB_RUN_POLICY_HASH: 'b'.repeat(64) } }],
  ['no policy of the run', { env: {} }],
  ['no copy of it', { env: { SUB_RUN_POLICY_HASH: HASH } }],
  ['another way to reload', { config: { ...CONFIG, 'policy.reload': 'any' as const } }],
  ['no events', { config: { ...CONFIG, 'events.sink': { kind: 'off' as const } } }],
  ['no pins', { config: { ...CONFIG, 'pins.mode': 'off' as const } }],
  ['another home', { home: '/y' }],
  [
    'flags that `sub wrap` has written',
    { flags: { wrap: 'w', policy: '/p.yaml', profile: 'x' }, env: {} },
  ],
])('one that has %s may not, whoever wrote its entry', async (_what, other) => {
  for (const written of [SAME.isWritten, isWritten]) {
    const unlike = await unlikeRun(RUN, { ...SAME, ...other, isWritten: written });
    expect(unlike?.isRefused).toBe(true);
    expect(unlike?.reason).toMatch(/end the agent and start it again/);
  }
});

const OWN = [
  [{ policy: '/open.yaml' }, { env: {}, config: { ...CONFIG, 'policy.path': '/open.yaml' } }],
  [{ profile: 'development' }, { config: development }],
  [{ events: 'off' }, { config: { ...CONFIG, 'events.sink': { kind: 'off' as const } } }],
  [{ 'governance-endpoint': 'http://127.0.0.1:9' }, {}],
  [{ 'server-env': 'GITHUB_ACTOR' }, {}],
] as const;

/** What an entry says itself. */
function said(flags: { readonly [flag: string]: string }, other: object) {
  const words = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
  return { ...SAME, ...other, flags, words: [...words, ...SAME.words] };
}

test.each(OWN)(
  'an entry that says %j itself starts only if the user has it written',
  async (...one) => {
    expect(await unlikeRun(RUN, { ...said(...one), isWritten })).toBeUndefined();
    const unlike = await unlikeRun(RUN, said(...one));
    expect(unlike?.isRefused).toBe(true);
    expect(unlike?.reason).toMatch(
      /^files starts sub shim with --\S+ \S+, and no `sub import` of this home wrote that\. .*\[SUB_SHIM_LOOSE\]$/,
    );
  },
);

test.each(OWN.slice(2))('in development, %j is only told', async (...one) => {
  const settings = { ...said(...one) };
  const run = { ...RUN, profile: 'development' } as const;
  const told = { ...settings, config: { ...settings.config, profile: 'development' as const } };
  expect(await unlikeRun(run, told)).toMatchObject({ isRefused: false });
});

test('a shim may repeat the settings of its run', async () => {
  const flags = { policy: '/p.yaml', profile: 'production', events: 'file:/x/events' };
  expect(await unlikeRun(RUN, said(flags, {}))).toBeUndefined();
});

test('without a hub the profile is unknown and counts as production', async () => {
  const dev = said({ profile: 'development' }, { config: development });
  expect(await looseWithoutHub(dev)).toContain('--profile development');
  expect(await looseWithoutHub({ ...dev, isWritten })).toBeUndefined();
  expect(await looseWithoutHub(SAME)).toBeUndefined();
});

test('a run in development, or without a policy, and an older hub ask for nothing', async () => {
  const other = { ...SAME, env: {}, config: { ...development, 'policy.reload': 'any' } } as const;
  expect(await unlikeRun({ ...RUN, profile: 'development' }, other)).toBeUndefined();
  expect(await unlikeRun({}, other)).toBeUndefined();
  expect(await unlikeRun({ profile: 'production' }, { ...SAME, env: {} })).toBeUndefined();
});
