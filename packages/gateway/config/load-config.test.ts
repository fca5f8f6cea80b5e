import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { isFailure } from '@subluminal/contracts';
import { formatProblem } from '@subluminal/core/source';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { loadGatewayConfig } from './load-config.ts';
import { CONFIG_ENV, CONFIG_TEXTS, configFolder, writeConfig } from './testing/config-folder.ts';

const HOME = join(tmpdir(), 'no-home-of-subluminal');
const places = { env: CONFIG_ENV, home: HOME, userHome: HOME, settings: {} };

async function load(
  changed: Parameters<typeof configFolder>[0] = {},
  use: 'start' | 'check' = 'start',
) {
  const loaded = await loadGatewayConfig(configFolder(changed), { places, use });
  if (isFailure(loaded)) throw new Error(loaded.message);
  return loaded;
}

/** Each problem as its line. */
async function problemsOf(changed: Parameters<typeof configFolder>[0]) {
  return (await load(changed)).problems.map(formatProblem);
}

it('a folder that is right becomes a configuration', async () => {
  const loaded = await load();
  expect(loaded.problems.map(formatProblem)).toEqual([]);
  if (!loaded.ok) throw new Error('not loaded');
  const { config } = loaded;
  expect(config.settings).toMatchObject({
    tenantId: 'acme',
    listen: { host: '127.0.0.1', port: 8_790 },
    tls: null,
    database: null,
    limits: { bodyBytesMax: 10_485_760 },
  });
  expect(config.endpoints.get('hosted')).toEqual({
    id: 'hosted',
    provider: 'anthropic',
    url: 'https://api.anthropic.com',
    keyRef: 'env://TEST_ANTHROPIC_KEY',
    teamKeyRefs: {},
    dataResidency: 'us',
    trustTier: 'vendor',
    supports: new Set(['streaming', 'tools', 'cache_control', 'extended_thinking']),
    deployments: [],
    concurrencyMax: 64,
  });
  expect(config.pools.get('standard')).toEqual({
    name: 'standard',
    members: [{ endpointId: 'hosted', model: 'claude-sonnet-4-6', weight: 3 }],
    fallbackPool: 'cheap',
    attemptsMax: 2,
    timeoutMs: 120_000,
    outputTokensMax: 32_000,
  });
  expect(config.secrets.get('env://TEST_ANTHROPIC_KEY')).toBe(CONFIG_ENV.TEST_ANTHROPIC_KEY);
  expect(config.prices[0]).toMatchObject({ inputMicros: 3_000_000, outputMicros: 15_000_000 });
  expect(config.budgets.teams.get('platform')).toEqual({
    capMicros: 2_000_000_000,
    softMicros: 1_600_000_000,
    onExceeded: 'require_approval',
  });
  expect(config.identity.repos.get('payments')).toMatchObject({
    remotes: ['github.com/acme/payments'],
    sensitivity: 'high',
    storage: 'metadata_only',
  });
});

it('the version is the hash of all files', async () => {
  const versionOf = async (changed: Parameters<typeof configFolder>[0]) => {
    const loaded = await load(changed);
    return loaded.ok ? loaded.config.version : 'broken';
  };
  const first = await versionOf({});
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(await versionOf({})).toBe(first);
  expect(await versionOf({ 'gateway.yaml': 'tenant_id: acme \n' })).not.toBe(first);
  expect(await versionOf({ 'gateway.yaml': null })).not.toBe(first);
});

it('files that list nothing may be left out', async () => {
  const optional = ['gateway', 'webhooks', 'budgets', 'identity/repos'];
  const left = Object.fromEntries(optional.map((name) => [`${name}.yaml`, null]));
  expect(await problemsOf(left)).toEqual([]);
});

it('all problems of all files come at once, each with its place', async () => {
  const found = await problemsOf({
    'pools.yaml': 'provider_endpoints: {}\npool: {}\n',
    'gateway.yaml': 'listen:\n  prot: 80\n',
    'budgets.yaml': 'defaults:\n  team_monthly: { cap_usd: -1 }\n',
    'webhooks.yaml': 'webhooks: [\n',
    'policies/main.yaml': null,
  });
  expect(found).toEqual([
    'policies/main.yaml:1:1: error: the file is missing. Write it, or start from the example of `sub gateway init`. [SUB_GATEWAY_FILE]',
    'gateway.yaml:2:3: error: unknown field `prot`; did you mean `port`? Rename it to `port`. [SUB_GATEWAY_FIELD]',
    expect.stringMatching(/^pools\.yaml:1:1: error: missing `pools`, /),
    expect.stringMatching(/^pools\.yaml:2:1: error: unknown field `pool`; did you mean `pools`\?/),
    expect.stringMatching(/^budgets\.yaml:2:28: error: expected a number from 0 to /),
    expect.stringMatching(/^webhooks\.yaml:1:12: error: /),
  ]);
});

it('a folder that is not there is a failure with its fix', async () => {
  const loaded = await loadGatewayConfig(join(HOME, 'none'), { places, use: 'check' });
  expect(loaded).toMatchObject({ kind: 'failure', code: 'SUB_FILE_READ' });
});

it('no dump of a configuration shows a secret', async () => {
  const loaded = await load();
  const dumps = [JSON.stringify(loaded), inspect(loaded, { depth: 20, showHidden: true })];
  for (const dump of dumps) expect(dump).not.toContain(CONFIG_ENV.TEST_ANTHROPIC_KEY);
});

it('any text in any file gives a configuration or problems, and never throws', async () => {
  const files = Object.keys(CONFIG_TEXTS);
  const dir = configFolder();
  const cut = fc.record({
    from: fc.nat(400),
    length: fc.nat(40),
    put: fc.string({ maxLength: 12 }),
  });
  const mutated = fc.record({ file: fc.constantFrom(...files), cut });
  const anyText = fc.record({
    file: fc.constantFrom(...files),
    text: fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom('[]', '{}', 'null', '? [a]\n: b', '&a [*a]'),
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutated, anyText), async (one) => {
      const good = CONFIG_TEXTS[one.file] ?? '';
      const text =
        'text' in one
          ? one.text
          : good.slice(0, one.cut.from) + one.cut.put + good.slice(one.cut.from + one.cut.length);
      writeConfig(dir, { [one.file]: text });
      const loaded = await loadGatewayConfig(dir, { places, use: 'start' });
      writeConfig(dir, { [one.file]: good });
      if (isFailure(loaded)) throw new Error(loaded.message);
      expect(loaded.ok).toBe(loaded.problems.every(({ level }) => level !== 'error'));
    }),
    { numRuns: 60 },
  );
});
