import { chmodSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { formatProblem } from '@subluminal/core/source';
import { expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { loadGatewayConfig } from './load-config.ts';
import { isPrivateHost } from './private-host.ts';
import { CONFIG_ENV, CONFIG_TEXTS, configFolder } from './testing/config-folder.ts';

const HOME = join(tmpdir(), 'no-home-of-subluminal');
type Texts = Parameters<typeof configFolder>[0];

async function problemsOf(changed: Texts, use: 'start' | 'check' = 'start', env = CONFIG_ENV) {
  const places = { env, home: HOME, userHome: HOME, settings: {} };
  const loaded = await loadGatewayConfig(configFolder(changed), { places, use });
  if (isFailure(loaded)) throw new Error(loaded.message);
  expect(loaded.ok).toBe(loaded.problems.every(({ level }) => level !== 'error'));
  return loaded.problems.map(formatProblem);
}

/** The problems after one change in one file. */
async function afterChange(file: string, from: string, to: string) {
  const text = CONFIG_TEXTS[file] ?? '';
  expect(text).toContain(from);
  return problemsOf({ [file]: text.replace(from, to) });
}

const SECOND = '\n      - { endpoint_id: local, model: qwen2.5-coder, weight: 1 }\n';
const AZURE = `
  azure:
    provider: azure_openai
    url: https://acme.openai.azure.com
    key_ref: env://TEST_ANTHROPIC_KEY
    deployments: [gpt]
    data_residency: eu
    trust_tier: private
pools:`;

it('a pool member that names no registered endpoint stops the start', async () => {
  verifies('R-5');
  expect(await afterChange('pools.yaml', 'endpoint_id: hosted', 'endpoint_id: hostd')).toEqual([
    'pools.yaml:17:24: error: there is no endpoint `hostd`; did you mean `hosted`? Write `hosted`. [SUB_GATEWAY_REFERENCE]',
  ]);
});

it.each([
  [
    'an endpoint that is like no other',
    'pools.yaml',
    'endpoint_id: hosted',
    'endpoint_id: bedrock-us',
    /^pools\.yaml:17:24: error: there is no endpoint `bedrock-us`\. Add it to `provider_endpoints`/,
  ],
  [
    'a fallback pool that is not there',
    'pools.yaml',
    'fallback_pool: cheap',
    'fallback_pool: cheep',
    /^pools\.yaml:18:20: error: there is no pool `cheep`; did you mean `cheap`\?/,
  ],
  [
    'a pool that falls back to itself',
    'pools.yaml',
    'fallback_pool: cheap',
    'fallback_pool: standard',
    /^pools\.yaml:18:20: error: pools fall back to each other in a circle: standard → standard\./,
  ],
  [
    'pools that fall back in a circle',
    'pools.yaml',
    SECOND,
    `${SECOND}    fallback_pool: standard\n`,
    /^pools\.yaml:18:20: error: pools fall back .*: standard → cheap → standard\./,
  ],
  [
    'a pool without members',
    'pools.yaml',
    `members:${SECOND}`,
    'members: []\n',
    /^pools\.yaml:20:14: error: the pool `cheap` has no members\./,
  ],
  [
    'a member twice',
    'pools.yaml',
    SECOND,
    SECOND + SECOND.slice(1),
    /^pools\.yaml:22:9: error: the same endpoint and model stand in the pool twice\./,
  ],
  [
    'a weight of 0',
    'pools.yaml',
    'weight: 3',
    'weight: 0',
    /^pools\.yaml:17:66: error: expected a whole number from 1 /,
  ],
  [
    'a negative weight',
    'pools.yaml',
    'weight: 3',
    'weight: -1',
    /^pools\.yaml:17:66: error: expected a whole number from 1 /,
  ],
  [
    'a deployment where there are none',
    'pools.yaml',
    'model: claude-sonnet-4-6,',
    'model: claude-sonnet-4-6, deployment: x,',
    /^pools\.yaml:17:\d+: error: anthropic has no deployments\./,
  ],
  [
    'a deployment that is not listed',
    'pools.yaml',
    '\npools:',
    `${AZURE}\n  big:\n    members: [{ endpoint_id: azure, model: claude-sonnet-4-6, deployment: gpd }]`,
    /error: there is no deployment `gpd`; did you mean `gpt`\?/,
  ],
  [
    'a member on Azure without its deployment',
    'pools.yaml',
    '\npools:',
    `${AZURE}\n  big:\n    members: [{ endpoint_id: azure, model: claude-sonnet-4-6 }]`,
    /error: a member on azure_openai needs its `deployment`\. Add `deployment: gpt`\./,
  ],
  [
    'a vendor in the private pool',
    'pools.yaml',
    '  cheap:\n',
    '  private_strong:\n    members: [{ endpoint_id: hosted, model: claude-sonnet-4-6 }]\n  cheap:\n',
    /error: `private_strong` takes only private endpoints, and this one is `vendor`\./,
  ],
  [
    'plain http over the internet',
    'pools.yaml',
    'https://api.anthropic.com',
    'http://api.anthropic.com',
    /^pools\.yaml:4:10: error: prompts and keys would cross the internet in plain text\./,
  ],
  [
    'a URL that is none',
    'pools.yaml',
    'https://api.anthropic.com',
    'api.anthropic.com',
    /^pools\.yaml:4:10: error: expected a URL with https: or http:\./,
  ],
  [
    'an unknown provider',
    'pools.yaml',
    'provider: anthropic',
    'provider: antropic',
    /^pools\.yaml:3:15: error: unknown provider `antropic`; .* Write `anthropic`\./,
  ],
  [
    'a key of a team that is not there',
    'pools.yaml',
    'data_residency: us',
    'team_key_refs: { platfrom: env://TEST_HOOK_SECRET }\n    data_residency: us',
    /error: there is no team `platfrom`; did you mean `platform`\?/,
  ],
  [
    'a budget of a team that is not there',
    'budgets.yaml',
    'platform:',
    'data:',
    /^budgets\.yaml:4:3: error: there is no team `data`\. Add it to identity\/teams\.yaml, or correct it\./,
  ],
  [
    'a budget of a user that is not there',
    'budgets.yaml',
    'teams:',
    'users: { bob: { daily: { cap_usd: 5 } } }\nteams:',
    /^budgets\.yaml:3:10: error: there is no user `bob`\./,
  ],
  [
    'a user of a team that is not there',
    'identity/users.yaml',
    'team_id: platform',
    'team_id: platforms',
    /^identity\/users\.yaml:2:30: error: there is no team `platforms`; did you mean `platform`\?/,
  ],
  [
    'a user twice',
    'identity/users.yaml',
    'users:\n',
    'users:\n  - { user_id: ada, team_id: platform }\n',
    /^identity\/users\.yaml:3:16: error: the user_id `ada` is already taken by users\[0\]\./,
  ],
  [
    'an id that cannot stand in a header',
    'identity/teams.yaml',
    'teams:\n',
    'teams:\n  - { team_id: "a b" }\n',
    /^identity\/teams\.yaml:2:16: error: `a b` is no id\./,
  ],
  [
    'a repository of a team that is not there',
    'identity/repos.yaml',
    'team_id: platform',
    'team_id: other',
    /^identity\/repos\.yaml:3:14: error: there is no team `other`\./,
  ],
  [
    'an owner who is not there',
    'identity/repos.yaml',
    'owners: [ada]',
    'owners: [ada, bob]',
    /^identity\/repos\.yaml:5:19: error: there is no user `bob`\./,
  ],
  [
    'a remote of two repositories',
    'identity/repos.yaml',
    'repos:\n',
    'repos:\n  - { repo_id: other, remotes: ["https://github.com/Acme/payments"] }\n',
    /error: the remote `github\.com\/acme\/payments` belongs to `other` already\./,
  ],
  [
    'a webhook without https',
    'webhooks.yaml',
    'url: https:',
    'url: http:',
    /^webhooks\.yaml:4:10: error: the URL cannot be used: It must begin with https\./,
  ],
  [
    'a webhook to a host that is not allowed',
    'webhooks.yaml',
    'https://hooks.example.com/',
    'https://evil.example.org/',
    /^webhooks\.yaml:4:10: error: .*`allowed_hosts` in webhooks\.yaml does not name evil\.example\.org\./,
  ],
  [
    'a webhook twice',
    'webhooks.yaml',
    'webhooks:\n',
    'webhooks:\n  - { id: alerts, url: "https://hooks.example.com/", events: [budget_soft], secret_ref: env://TEST_HOOK_SECRET }\n',
    /error: the id `alerts` is taken already\./,
  ],
  [
    'an event that is not sent',
    'webhooks.yaml',
    'budget_hard',
    'budget_hart',
    /error: unknown events `budget_hart`; .* Write `budget_hard`\./,
  ],
  [
    'a price twice',
    'pricing.yaml',
    'prices:\n',
    'prices:\n  - { provider: anthropic, model: claude-sonnet-4-6, input_cents_per_mtok: 1, output_cents_per_mtok: 1 }\n',
    /^pricing\.yaml:3:5: error: `claude-sonnet-4-6` has a price already\./,
  ],
  [
    'a negative price',
    'pricing.yaml',
    'input_cents_per_mtok: 300',
    'input_cents_per_mtok: -300',
    /^pricing\.yaml:2:\d+: error: expected a number from 0 /,
  ],
  [
    'a price at an endpoint that is not there',
    'pricing.yaml',
    'endpoint: local',
    'endpoint: locale',
    /error: there is no endpoint `locale`; did you mean `local`\?/,
  ],
  [
    'less room for all requests than for one',
    'gateway.yaml',
    'tenant_id',
    'limits: { body_bytes_max: 20000000, bodies_bytes_max: 19999999 }\ntenant_id',
    /^gateway\.yaml:1:\d+: error: all requests together may take less than one of them\./,
  ],
  [
    'an address that is none',
    'gateway.yaml',
    'tenant_id',
    'ip_allowlist: [203.0.113.7, 300.1.1.1/8]\ntenant_id',
    /^gateway\.yaml:1:29: error: `300\.1\.1\.1\/8` is no address and no CIDR range\./,
  ],
  [
    'a database with both places',
    'gateway.yaml',
    'tenant_id',
    'database: { url: "sqlite:x.db", url_ref: env://TEST_HOOK_SECRET }\ntenant_id',
    /error: `database` needs either `url` or `url_ref`\./,
  ],
  [
    'a database of another kind',
    'gateway.yaml',
    'tenant_id',
    'database: { url: "mysql://db/x" }\ntenant_id',
    /error: expected `sqlite:PATH` or `postgres:\/\/HOST\/NAME`\./,
  ],
  [
    'a TLS key that is not there',
    'gateway.yaml',
    'tenant_id',
    'tls: { cert_file: /no/cert.pem, key_file: /no/key.pem }\ntenant_id',
    /error: `\/no\/cert\.pem` does not exist\./,
  ],
  [
    'a version that is none',
    'gateway.yaml',
    'tenant_id',
    'clients: { version_min: latest }\ntenant_id',
    /error: `latest` is no version\./,
  ],
] as const)('%s is an error with its place', async (_, file, from, to, expected) => {
  const problems = await afterChange(file, from, to);
  const errors = problems.filter((line) => line.includes(': error: '));
  expect(errors[0]).toMatch(expected);
  expect(errors.slice(1).filter((line) => !line.includes('/no/key.pem'))).toEqual([]);
});

it('what is wrong with the policy has its place, and a rule may name only pools that are there', async () => {
  const rule = (text: string) => ({
    'policies/main.yaml': `version: 1\nrules:\n  - ${text}\n`,
  });
  expect(
    await problemsOf(rule('{ id: R1, when: "true", action: route, model_pool: chaep }')),
  ).toEqual([expect.stringMatching(/^policies\/main\.yaml:3:\d+: error: .*`chaep`.*`cheap`/)]);
  expect(await problemsOf(rule('{ id: R1, when: "nobody", action: block }'))).toEqual([
    expect.stringMatching(/^policies\/main\.yaml:3:\d+: error: .*\[SUB_GATEWAY_CONDITION\]$/),
  ]);
  expect(await problemsOf(rule('['))).toEqual([
    expect.stringMatching(/^policies\/main\.yaml:3:\d+: error: .*\[SUB_GATEWAY_SYNTAX\]$/),
  ]);
});

it('the pools of a broken pools.yaml are not reported as missing from the policy', async () => {
  const problems = await problemsOf({ 'pools.yaml': 'pools: [' });
  expect(problems).toEqual([expect.stringMatching(/^pools\.yaml:.*\[SUB_GATEWAY_SYNTAX\]$/)]);
});

it.each([
  ['10.0.0.9', true],
  ['[::1]', true],
  ['[::ffff:127.0.0.1]', true],
  ['[64:ff9b::7f00:1]', true],
  ['169.254.169.254', true],
  ['100.64.0.1', true],
  ['localhost', true],
  ['db.internal', true],
  ['intranet', true],
  ['metadata.google.internal.', true],
  ['8.8.8.8', false],
  ['[2606:4700::1111]', false],
  ['hooks.example.com', false],
])('a webhook to the host %s is refused: %s', async (host, isPrivate) => {
  expect(isPrivateHost(host)).toBe(isPrivate);
  const found = await problemsOf({
    'webhooks.yaml': `allowed_hosts: ["${host}"]\nwebhooks: [{ id: a, url: "https://${host}/", events: [budget_soft], secret_ref: env://TEST_HOOK_SECRET }]`,
  });
  expect(found.some((line) => line.includes(': error: '))).toBe(isPrivate);
});

const KEY = `sk-ant-api03-${'Ab1-'.repeat(23)}xQ-AAAAAAAA`;

it.each([
  ['a key where a reference is due', 'pools.yaml', 'env://TEST_ANTHROPIC_KEY', KEY],
  ['a word where a reference is due', 'pools.yaml', 'env://TEST_ANTHROPIC_KEY', 'hunter2-hunter2'],
  ['a key in a field of another kind', 'pools.yaml', 'provider: anthropic', `provider: ${KEY}`],
  ['a password in a webhook', 'webhooks.yaml', 'https://', 'https://u:hunter2-hunter2@'],
  ['a key in a URL', 'pools.yaml', 'https://api', `https://user:${KEY}@api`],
  ['a key behind an unknown field', 'pools.yaml', 'key_ref: env://', `api_key: ${KEY} #`],
  ['a key in the policy', 'policies/main.yaml', '[default]', `["${KEY}"]`],
  [
    'a password in the database URL',
    'gateway.yaml',
    'tenant_id',
    'database: { url: "postgres://gw:hunter2-hunter2@db/x" }\ntenant_id',
  ],
])('%s is refused, and no message shows it', async (_, file, from, to) => {
  const problems = await afterChange(file, from, to);
  expect(problems.some((line) => line.endsWith('[SUB_GATEWAY_SECRET]'))).toBe(true);
  expect(problems.join('\n')).not.toMatch(/hunter2|Ab1-Ab1/);
});

it('a reference that leads nowhere is a warning in a check and an error at the start', async () => {
  const env = { ...CONFIG_ENV, TEST_HOOK_SECRET: '' };
  const line = (level: string) =>
    `webhooks.yaml:6:17: ${level}: \`env://TEST_HOOK_SECRET\` cannot be resolved: TEST_HOOK_SECRET is not set. Set TEST_HOOK_SECRET in the environment of the gateway. [SUB_GATEWAY_UNRESOLVED]`;
  expect(await problemsOf({}, 'check', env)).toEqual([line('warning')]);
  expect(await problemsOf({}, 'start', env)).toEqual([line('error')]);
});

it('a secret file that others can read is not used', async () => {
  const path = join(configFolder({}), 'key');
  writeFileSync(path, 'key-in-a-file\n', { mode: 0o600 });
  const pools = (CONFIG_TEXTS['pools.yaml'] ?? '').replace(
    'env://TEST_ANTHROPIC_KEY',
    `file://${path}`,
  );
  expect(await problemsOf({ 'pools.yaml': pools })).toEqual([]);
  chmodSync(path, 0o644);
  const [problem] = await problemsOf({ 'pools.yaml': pools });
  expect(problem).toMatch(/cannot be resolved: .* has mode 0644, wider than 0600/);
});

it('a file that others can write is a warning in a check and an error at the start', async () => {
  const dir = configFolder();
  chmodSync(join(dir, 'pools.yaml'), 0o666);
  const places = { env: CONFIG_ENV, home: HOME, userHome: HOME, settings: {} };
  for (const [use, level] of [
    ['check', 'warning'],
    ['start', 'error'],
  ] as const) {
    const loaded = await loadGatewayConfig(dir, { places, use });
    if (isFailure(loaded)) throw new Error(loaded.message);
    expect(loaded.problems).toMatchObject([{ level, code: 'SUB_FILE_UNSAFE', file: 'pools.yaml' }]);
  }
});

it.each([
  [
    'a model without a price',
    'pricing.yaml',
    'claude-sonnet-4-6',
    'claude-sonnet-9',
    /has no price, so no budget counts it/,
  ],
  [
    'a hosted endpoint without a key',
    'pools.yaml',
    'key_ref: env://TEST_ANTHROPIC_KEY',
    '',
    /anthropic wants a key/,
  ],
  [
    'an open port without TLS',
    'gateway.yaml',
    'tenant_id',
    'listen: { host: 0.0.0.0 }\ntenant_id',
    /open to the network without TLS/,
  ],
])('%s is a warning', async (_, file, from, to, expected) => {
  const problems = await afterChange(file, from, to);
  expect(problems).toEqual([expect.stringMatching(expected)]);
  expect(problems[0]).toContain(': warning: ');
});

it('a dated model has the price of the model', async () => {
  expect(
    await afterChange('pools.yaml', 'claude-sonnet-4-6', 'claude-sonnet-4-6-20260101'),
  ).toEqual([]);
});

it('a file that nothing reads is a warning that names the likely one', async () => {
  expect(await problemsOf({ 'budgets.yaml': null, 'budget.yaml': '{}', 'notes.txt': '' })).toEqual([
    'budget.yaml:1:1: warning: nothing reads this file; did you mean `budgets.yaml`? Rename it. [SUB_GATEWAY_FILE]',
  ]);
});

it('what a broken file would have said is not reported as missing', async () => {
  const problems = await problemsOf({ 'identity/teams.yaml': 'teams: [\n' });
  expect(problems).toHaveLength(1);
});
