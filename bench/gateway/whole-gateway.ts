// The gateway as `sub gateway serve` runs it: keys, the example policy, the scan, budgets and records on SQLite.
// Usage: whole-gateway.ts UPSTREAM_URL
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure, isObject } from '@subluminal/contracts';
import { limitHeapGrowth } from '@subluminal/gateway/heap-growth';
import { startGateway } from '@subluminal/gateway/serve';
import { tellUsage } from './serve.mjs';

const [upstreamUrl = ''] = process.argv.slice(2);
const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'gateway');
const MEMBERS = {
  cheap: 'claude-haiku-4-5',
  standard: 'claude-sonnet-4-6',
  strong: 'claude-opus-4-7',
  private_strong: 'claude-opus-4-7',
};

const home = mkdtempSync(join(tmpdir(), 'sub-bench-gateway-'));
const dir = join(home, 'config');
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
cpSync(EXAMPLE, dir, { recursive: true });
// The example, but for one provider on this machine, and limits that no bench reaches.
writeFileSync(
  join(dir, 'pools.yaml'),
  `provider_endpoints:
  local: { provider: anthropic, url: ${upstreamUrl}, key_ref: 'env://BENCH_KEY', data_residency: us, trust_tier: private, supports: { tools: true, cache_control: true }, concurrency_max: 1024 }
pools:
${Object.entries(MEMBERS)
  .map(
    ([pool, model]) =>
      `  ${pool}: { members: [{ endpoint_id: local, model: ${model}, weight: 1 }] }`,
  )
  .join('\n')}
`,
);
writeFileSync(
  join(dir, 'budgets.yaml'),
  `defaults:
  team_monthly: { cap_usd: 10000000 }
  user_daily: { cap_usd: 1000000 }
  run: { cap_usd: 1000000 }
`,
);
writeFileSync(
  join(dir, 'gateway.yaml'),
  'limits: { requests_per_minute: 10000000, key_requests_per_minute: 10000000 }\n',
);

const log: string[] = [];
const started = await startGateway({
  dir,
  home,
  places: { env: { BENCH_KEY: 'key-of-the-bench' }, home, userHome: home, settings: {} },
  version: '0.1.0',
  database: join(home, 'gateway.db'),
  listen: { host: '127.0.0.1', port: 0 },
  log: (line) => log.push(line),
});
if (isFailure(started)) throw new Error(started.message);
if (started.kind === 'invalid') throw new Error(JSON.stringify(started.problems));
limitHeapGrowth();
tellUsage({ url: started.url, key: await firstKey(started.url) });

async function firstKey(url: string): Promise<string> {
  const token = /--setup (\S+)/.exec(log.join('\n'))?.[1];
  const answer = await fetch(`${url}/api/v1/setup/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ setup_token: token, user_id: 'ada' }),
  });
  const told: unknown = await answer.json();
  const key = isObject(told) ? told['api_key'] : undefined;
  if (typeof key !== 'string') throw new Error(`no key: ${answer.status}`);
  return key;
}
