// `sub serve` with the starter policy before one server over HTTP, as `sub serve --config` runs it; its events go to a
// file. Usage: whole-serve.ts UPSTREAM_URL
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { limitHeapGrowth } from '@subluminal/gateway/heap-growth';
import { startServe } from '@subluminal/plane/apps/serve';
import { loadConfig } from '@subluminal/plane/config';
import { tellUsage } from '../gateway/serve.mjs';

const [upstreamUrl = ''] = process.argv.slice(2);
const STARTER = join(import.meta.dirname, '..', '..', 'examples', 'policies', 'starter.yaml');

const home = mkdtempSync(join(tmpdir(), 'sub-bench-http-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
const file = join(home, 'serve.yaml');
const policy = join(home, 'policy.yaml');
const limits = '{sessions: 10000, sessions_per_principal: 10000}';
writeFileSync(
  file,
  `listen: 127.0.0.1:0\nauth: {none: true}\nlimits: ${limits}\nservers: {mcp: {url: "${upstreamUrl}/mcp/mcp"}}\n`,
  { mode: 0o600 },
);
writeFileSync(policy, readFileSync(STARTER), { mode: 0o600 });
const env = { HOME: home, SUB_HOME: join(home, '.subluminal'), PATH: process.env['PATH'] };
const flags = { policy, events: `file:${join(home, 'events.jsonl')}` };
const loaded = await loadConfig({ env, cwd: home, flags });
if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
const started = await startServe({ file, loaded, env, cwd: home, flags, log: () => {} });
if (isFailure(started)) throw new Error(started.message);
if (started.kind === 'invalid') throw new Error(JSON.stringify(started.problems));
limitHeapGrowth();
tellUsage({ url: started.url });
