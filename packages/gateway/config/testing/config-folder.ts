// Configurations for tests: a folder with real files, or a configuration without one.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { GATEWAY_CONFIG_FILES, withDefaults } from '@subluminal/contracts';
import type { Endpoint } from '@subluminal/core/routing';
import { formatProblem } from '@subluminal/core/source';
import { readTurnPolicy } from '@subluminal/core/turn-policy';
import { sha256 } from '@subluminal/plane/crypto';
import { onTestFinished } from 'vitest';
import { settingsOf } from '../build-config.ts';
import { configSecrets } from '../secret-refs.ts';
import type { GatewayConfig } from '../types.ts';

const POLICY = `version: 1
defaults:
  on_no_match: { action: route, model_pool: standard, reasons: [default] }
rules: []
`;

/** A small folder that is right: two endpoints, two pools, one team with a user and a repository. */
export const CONFIG_TEXTS: { readonly [file: string]: string } = {
  'gateway.yaml': 'tenant_id: acme\n',
  'pools.yaml': `provider_endpoints:
  hosted:
    provider: anthropic
    url: https://api.anthropic.com
    key_ref: env://TEST_ANTHROPIC_KEY
    data_residency: us
    trust_tier: vendor
    supports: { tools: true, cache_control: true, extended_thinking: true }
  local:
    provider: openai_compat
    url: http://127.0.0.1:11434/v1
    data_residency: on_prem
    trust_tier: private
pools:
  standard:
    members:
      - { endpoint_id: hosted, model: claude-sonnet-4-6, weight: 3 }
    fallback_pool: cheap
  cheap:
    members:
      - { endpoint_id: local, model: qwen2.5-coder, weight: 1 }
`,
  'policies/main.yaml': POLICY,
  'budgets.yaml': `defaults:
  team_monthly: { cap_usd: 500 }
teams:
  platform: { monthly: { cap_usd: 2000, on_exceeded: require_approval } }
`,
  'pricing.yaml': `prices:
  - { provider: anthropic, model: claude-sonnet-4-6, input_cents_per_mtok: 300, output_cents_per_mtok: 1500 }
  - { provider: openai_compat, endpoint: local, model: qwen2.5-coder, input_cents_per_mtok: 0, output_cents_per_mtok: 0 }
`,
  'webhooks.yaml': `allowed_hosts: [hooks.example.com]
webhooks:
  - id: alerts
    url: https://hooks.example.com/subluminal
    events: [approval_pending, budget_hard]
    secret_ref: env://TEST_HOOK_SECRET
`,
  'identity/teams.yaml': 'teams:\n  - { team_id: platform, name: Platform }\n',
  'identity/users.yaml':
    'users:\n  - { user_id: ada, team_id: platform, email: ada@example.com }\n',
  'identity/repos.yaml': `repos:
  - repo_id: payments
    team_id: platform
    remotes: [git@github.com:acme/payments.git]
    owners: [ada]
    sensitivity: high
    tags: [pci]
`,
};

/** The variables that the references of `CONFIG_TEXTS` lead to. */
export const CONFIG_ENV = {
  TEST_ANTHROPIC_KEY: 'key-of-the-test',
  TEST_HOOK_SECRET: 'hook-secret',
};

type ConfigTexts = { readonly [file: string]: string | null };

/** Writes the folder, with some files changed, or left out by null. It goes when the test ends. */
export function configFolder(changed: ConfigTexts = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-config-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeConfig(dir, { ...CONFIG_TEXTS, ...changed });
  return dir;
}

export function writeConfig(dir: string, texts: ConfigTexts): void {
  for (const [file, text] of Object.entries(texts)) {
    const path = join(dir, file);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    if (text === null) rmSync(path, { force: true });
    else writeFileSync(path, text, { mode: 0o644 });
  }
}

/** A configuration without files. */
export function gatewayConfig(
  parts: Partial<Omit<GatewayConfig, 'secrets'>> & {
    readonly secrets?: { readonly [ref: string]: string };
  } = {},
): GatewayConfig {
  const local = testEndpoint();
  const { endpoints = new Map([[local.id, local]]), pools = testPools(local.id) } = parts;
  return {
    version: 'test',
    settings: testSettings(),
    endpoints,
    pools,
    prices: [],
    budgets: {
      teamMonth: null,
      userDay: null,
      run: null,
      teams: new Map(),
      users: new Map(),
      reservationExpiresMs: 600_000,
    },
    webhooks: { allowedHosts: [], allowPrivateAddresses: false, hooks: [] },
    identity: {
      users: new Map([['ada', { userId: 'ada', teamId: 'platform', email: null }]]),
      teams: new Map([['platform', { teamId: 'platform', name: 'Platform' }]]),
      repos: new Map(),
    },
    policy: testPolicy(parts.policySource?.text ?? POLICY, endpoints, pools),
    policySource: { file: 'policies/main.yaml', text: POLICY },
    ...parts,
    secrets: configSecrets(new Map(Object.entries(parts.secrets ?? {}))),
  };
}

function testPools(endpointId: string): GatewayConfig['pools'] {
  const members = [{ endpointId, model: 'test-model', weight: 1 }];
  const limits = { attemptsMax: 2, timeoutMs: 10_000, outputTokensMax: 1_000 };
  return new Map([['standard', { name: 'standard', members, ...limits }]]);
}

function testPolicy(
  text: string,
  endpoints: GatewayConfig['endpoints'],
  pools: GatewayConfig['pools'],
): GatewayConfig['policy'] {
  const surroundings = { pools: new Set(pools.keys()), endpoints, sha256 };
  const read = readTurnPolicy({ file: 'policies/main.yaml', text }, surroundings);
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'));
  return read.policy;
}

/** The settings of an empty `gateway.yaml`. */
export function testSettings(): GatewayConfig['settings'] {
  const { shape, parse } = GATEWAY_CONFIG_FILES.gateway;
  const parsed = parse(withDefaults(shape, {}));
  if (!parsed.ok) throw new Error('an empty gateway.yaml is not valid');
  return settingsOf(parsed.value);
}

export function testEndpoint(parts: Partial<Endpoint> = {}): Endpoint {
  return {
    id: 'local',
    provider: 'openai_compat',
    url: 'http://127.0.0.1:9/v1',
    teamKeyRefs: {},
    dataResidency: 'on_prem',
    trustTier: 'private',
    supports: new Set(['streaming', 'tools']),
    deployments: [],
    concurrencyMax: 64,
    ...parts,
  };
}
