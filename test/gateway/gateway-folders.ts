// The configurations of the gateways that these tests start.
const IDENTITIES = {
  'policies/main.yaml': `version: 1
defaults:
  on_no_match: { action: route, model_pool: standard, reasons: [default] }
rules: []
`,
  'webhooks.yaml': 'webhooks: []\n',
  'identity/teams.yaml': 'teams:\n  - { team_id: platform, name: Platform }\n',
  'identity/users.yaml': 'users:\n  - { user_id: ada, team_id: platform }\n',
  'identity/repos.yaml': 'repos: []\n',
  'gateway.yaml': `tenant_id: acme
limits: { key_requests_per_minute: 1000000, requests_per_minute: 1000000 }
`,
};

function endpoint(id: string, url: string): string {
  return `  ${id}:
    provider: anthropic
    url: ${url}
    key_ref: env://TEST_KEY
    data_residency: us
    trust_tier: vendor
    supports: { tools: true, cache_control: true }
    concurrency_max: 1000
`;
}

/** What is reserved for one turn of 1,000 tokens, and what it costs then. */
export const TURN_MICROS = 1_000_000;

/** One endpoint, and a budget for so many turns. */
export function raceConfig(upstream: string, turns: number): { readonly [file: string]: string } {
  return {
    ...IDENTITIES,
    'pools.yaml': `provider_endpoints:
${endpoint('one', upstream)}pools:
  standard:
    members: [{ endpoint_id: one, model: claude-sonnet-4-6 }]
    max_attempts: 1
`,
    'budgets.yaml': `teams: { platform: { monthly: { cap_usd: ${turns} } } }
reservation_expires_ms: 5000
`,
    'pricing.yaml': `prices:
  - { provider: anthropic, model: claude-sonnet-4-6, input_cents_per_mtok: 0, output_cents_per_mtok: 100000 }
`,
  };
}

/** Two endpoints, the second for what the first can't do, and a budget that nobody reaches. */
export function chaosConfig(upstreams: readonly string[]): { readonly [file: string]: string } {
  const [one = '', two = ''] = upstreams;
  return {
    ...IDENTITIES,
    'pools.yaml': `provider_endpoints:
${endpoint('one', one)}${endpoint('two', two)}pools:
  standard:
    members: [{ endpoint_id: one, model: claude-sonnet-4-6 }]
    max_attempts: 2
    timeout_ms: 1500
    fallback_pool: second
  second:
    members: [{ endpoint_id: two, model: claude-sonnet-4-6 }]
    max_attempts: 2
    timeout_ms: 1500
`,
    'budgets.yaml': `defaults:
  team_monthly: { cap_usd: 1000000 }
  user_daily: { cap_usd: 1000000 }
reservation_expires_ms: 5000
`,
    'pricing.yaml': `prices:
  - { provider: anthropic, model: claude-sonnet-4-6, input_cents_per_mtok: 300, output_cents_per_mtok: 1500 }
`,
  };
}
