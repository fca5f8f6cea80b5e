// A real gateway with something to look at: three weeks of cost, people of every role, a budget that is nearly used up,
// a turn that waits for a person, one that was routed with a loss, one that fell back, one that was blocked, webhooks
// and an open invite. Its providers are a server of this process.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type GatewayRole, isFailure, isObject } from '@subluminal/contracts';
import { startGateway } from '@subluminal/gateway/serve';
import { type SpentBudget, writeSpending } from './demo-spending.ts';

export interface DemoGateway {
  readonly url: string;
  /** Of `ada` (team platform), `grace` and `linus` (both team payments). */
  readonly keys: { readonly [R in GatewayRole]: string };
  /** The trace of the turn that fell back, and of the one that was routed with a loss. */
  readonly traces: { readonly fellBack: string; readonly degraded: string };
  /** What the turn of `linus` gets that waits for a person; undefined when the gateway closes before. */
  readonly waiting: Promise<Response | undefined>;
  close(): Promise<void>;
}

export interface DemoGatewayOptions {
  /** The folder with the built page. */
  readonly pages?: string;
}

const ENV = {
  DEMO_ANTHROPIC_KEY: 'key-of-the-demo',
  DEMO_OPENAI_KEY: 'key-of-the-demo',
  DEMO_HOOK_SECRET: 'secret-of-the-demo-receiver',
};
const HOUR_MS = 3_600_000;
const USD_MICROS = 1_000_000;
const OVERLOADED = 529;
/** What makes the demo's provider say that it is overloaded. */
const TROUBLE = 'while the provider is overloaded';

export async function startDemoGateway(options: DemoGatewayOptions = {}): Promise<DemoGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-demo-gateway-'));
  const providers = createServer((request, response) => void answerAsProvider(request, response));
  const stopped = new AbortController();
  const ends: (() => unknown)[] = [() => stopped.abort()];
  const close = async () => {
    for (const end of ends) await end();
    providers.closeAllConnections();
    await new Promise((resolve) => {
      providers.close(resolve);
    });
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const started = await startIn(folder, await listen(providers), options);
    ends.push(started.close);
    const filled = await fill(started.url, started.setupToken, stopped.signal);
    return { url: started.url, ...filled, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startIn(folder: string, providers: string, { pages }: DemoGatewayOptions) {
  const dir = join(folder, 'config');
  for (const [file, text] of Object.entries(configTexts(providers))) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  const database = join(home, 'gateway.db');
  const nowMs = Date.now();
  await writeSpending(database, { nowMs, budgets: spentBudgets(nowMs) });
  const log: string[] = [];
  const started = await startGateway({
    dir,
    home,
    places: { env: ENV, home, userHome: home, settings: {} },
    version: '0.1.0',
    database,
    listen: { host: '127.0.0.1', port: 0 },
    log: (line) => log.push(line),
    ...(pages !== undefined && { pages }),
  });
  if (isFailure(started)) throw new Error(started.message);
  if (started.kind === 'invalid') throw new Error(JSON.stringify(started.problems));
  const setupToken = /--setup (\S+)/.exec(log.join('\n'))?.[1] ?? '';
  return { url: started.url, close: () => started.close(), setupToken };
}

/** People, webhooks and turns, as clients would bring them. */
async function fill(url: string, setupToken: string, stopped: AbortSignal) {
  const post = (path: string, body: object, key?: string) =>
    fetch(url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
      signal: stopped,
    });
  const turn = (key: string, body: object) =>
    post('/v1/messages', { max_tokens: 1_000, model: 'claude-sonnet-4-6', ...body }, key);
  const setup = { setup_token: setupToken, user_id: 'ada' };
  const ada = await fieldOf(post('/api/v1/setup/exchange', setup), 'api_key');
  const welcome = async (userId: string, role: GatewayRole) => {
    const asked = { user_id: userId, role };
    const token = await fieldOf(post('/api/v1/admin/invites', asked, ada), 'invite_token');
    const taken = { invite_token: token, machine_id: `laptop-of-${userId}` };
    return fieldOf(post('/api/v1/lp/exchange-invite', taken), 'api_key');
  };
  const grace = await welcome('grace', 'team_admin');
  const linus = await welcome('linus', 'developer');
  const margaret = await welcome('margaret', 'developer');
  await post('/api/v1/admin/invites', { user_id: 'alan', role: 'developer' }, ada);
  await post('/api/v1/me/api-keys', { name: 'ci' }, grace);
  const degraded = await traceOf(
    turn(margaret, {
      model: 'claude-haiku-4-5',
      system: [{ type: 'text', text: 'You are brief.', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: 'Summarise the release notes.' }],
    }),
  );
  const messages = [{ role: 'user', content: `Rename the module ${TROUBLE}.` }];
  const fellBack = await traceOf(turn(linus, { messages }));
  const secret = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');
  await turn(margaret, { messages: [{ role: 'user', content: `Deploy with ${secret}.` }] });
  const asked = [{ role: 'user', content: 'Redesign the settlement of refunds.' }];
  const waiting = turn(linus, { model: 'claude-opus-4-7', messages: asked }).catch(() => undefined);
  await untilPending(url, ada);
  const keys = { developer: linus, team_admin: grace, platform_admin: ada };
  return { keys, traces: { fellBack, degraded }, waiting };
}

async function untilPending(url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  for (;;) {
    const answer = await fetch(`${url}/api/v1/approvals?state=pending`, { headers });
    const { approvals } = (await answer.json()) as { approvals: readonly unknown[] };
    if (approvals.length > 0) return;
  }
}

async function fieldOf(answer: Promise<Response>, name: string): Promise<string> {
  const json: unknown = await (await answer).json();
  const value = isObject(json) ? json[name] : undefined;
  if (typeof value !== 'string') throw new Error(`no ${name} in ${JSON.stringify(json)}`);
  return value;
}

async function traceOf(turn: Promise<Response>): Promise<string> {
  const answer = await turn;
  if (!answer.ok) throw new Error(`a turn got ${answer.status}: ${await answer.text()}`);
  return answer.headers.get('x-aicg-trace-id') ?? '';
}

/** Anthropic, OpenAI and the receiver of webhooks. */
async function answerAsProvider(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const asked = Buffer.concat(chunks).toString('utf8');
  response.setHeader('content-type', 'application/json');
  if (request.url === '/hook') return void response.writeHead(204).end();
  const isAnthropic = request.url?.endsWith('/messages') === true;
  if (isAnthropic && asked.includes(TROUBLE)) {
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    return void response.writeHead(OVERLOADED).end(JSON.stringify({ type: 'error', error }));
  }
  const body = JSON.parse(asked) as { model: string };
  response.end(JSON.stringify(isAnthropic ? messageOf(body.model) : responseOf(body.model)));
}

function messageOf(model: string) {
  return {
    id: 'msg_demo',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: 'Done.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 18_000, output_tokens: 900 },
  };
}

function responseOf(model: string) {
  const content = [{ type: 'output_text', text: 'Done.', annotations: [] }];
  return {
    id: 'resp_demo',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model,
    output: [{ type: 'message', id: 'msg_demo', role: 'assistant', status: 'completed', content }],
    usage: { input_tokens: 18_000, output_tokens: 900, total_tokens: 18_900 },
  };
}

function spentBudgets(nowMs: number): readonly SpentBudget[] {
  const today = new Date(nowMs).toISOString();
  const month = (key: string, capUsd: number) =>
    ({
      scope: 'team_month',
      key,
      period: today.slice(0, 7),
      capMicros: capUsd * USD_MICROS,
      softMicros: capUsd * 0.8 * USD_MICROS,
      onExceeded: 'require_approval',
    }) as const;
  const usd = (used: number, reserved: number) => {
    return { usedMicros: used * USD_MICROS, reservedMicros: reserved * USD_MICROS };
  };
  const payments = { userId: 'linus', teamId: 'payments' };
  const platform = { userId: 'ada', teamId: 'platform' };
  const web = { userId: 'margaret', teamId: 'web' };
  return [
    { limit: month('payments', 400), caller: payments, ...usd(352, 21) },
    { limit: month('platform', 1_000), caller: platform, ...usd(264, 8) },
    { limit: month('web', 300), caller: web, ...usd(96, 0) },
  ];
}

function configTexts(providers: string): { readonly [file: string]: string } {
  return {
    'gateway.yaml': `approvals: { expires_ms: ${HOUR_MS} }\n`,
    'pools.yaml': `provider_endpoints:
  anthropic-prod:
    provider: anthropic
    url: ${providers}
    key_ref: env://DEMO_ANTHROPIC_KEY
    data_residency: us
    trust_tier: vendor
    supports: { tools: true, cache_control: true, extended_thinking: true, images: true }
  openai-prod:
    provider: openai
    url: ${providers}/v1
    key_ref: env://DEMO_OPENAI_KEY
    data_residency: us
    trust_tier: vendor
    supports: { tools: true, images: true }
  local:
    provider: openai_compat
    url: ${providers}/v1
    data_residency: on_prem
    trust_tier: private
    supports: { tools: true }
pools:
  cheap:
    members: [{ endpoint_id: openai-prod, model: gpt-5.4-mini, weight: 1 }]
  standard:
    members: [{ endpoint_id: anthropic-prod, model: claude-sonnet-4-6, weight: 1 }]
    fallback_pool: strong
    max_attempts: 2
  strong:
    members: [{ endpoint_id: openai-prod, model: gpt-5.5, weight: 1 }]
  private_strong:
    members: [{ endpoint_id: local, model: qwen2.5-coder, weight: 1 }]
`,
    'policies/main.yaml': `version: 1
defaults:
  on_no_match: { action: route, model_pool: standard, reasons: [default-fallthrough] }
rules:
  - { id: P-SEC-001, priority: 1000, when: server_class.has_secret_finding, action: block, reasons: ["The prompt holds a secret. Remove it."] }
  - { id: P-COST-001, priority: 900, when: 'request.model == "claude-opus-4-7"', action: require_approval, reasons: ["Opus needs a second pair of eyes."] }
  - { id: P-ROUTE-001, priority: 500, when: 'request.model == "claude-haiku-4-5"', action: route, model_pool: cheap }
  - { id: P-ROUTE-002, priority: 400, when: 'request.model == "claude-sonnet-4-6"', action: route, model_pool: standard }
`,
    'budgets.yaml': `defaults:
  user_daily: { cap_usd: 50, soft_percent: 80, on_exceeded: refuse }
teams:
  payments: { monthly: { cap_usd: 400, soft_percent: 80, on_exceeded: require_approval } }
  platform: { monthly: { cap_usd: 1000, soft_percent: 80, on_exceeded: require_approval } }
  web: { monthly: { cap_usd: 300, soft_percent: 80, on_exceeded: require_approval } }
reservation_expires_ms: ${HOUR_MS}
`,
    'pricing.yaml': `prices:
  - { provider: anthropic, model: claude-sonnet-4-6, input_cents_per_mtok: 300, output_cents_per_mtok: 1500 }
  - { provider: openai, model: gpt-5.4-mini, input_cents_per_mtok: 75, output_cents_per_mtok: 450 }
  - { provider: openai, model: gpt-5.5, input_cents_per_mtok: 500, output_cents_per_mtok: 3000 }
  - { provider: openai_compat, endpoint: local, model: qwen2.5-coder, input_cents_per_mtok: 0, output_cents_per_mtok: 0 }
`,
    'webhooks.yaml': `allowed_hosts: ["127.0.0.1"]
allow_private_addresses: true
webhooks:
  - { id: alerts, url: "${providers}/hook", events: [budget_soft, budget_hard, approval_pending], secret_ref: env://DEMO_HOOK_SECRET }
`,
    'identity/teams.yaml': `teams:
  - { team_id: platform, name: Platform }
  - { team_id: payments, name: Payments }
  - { team_id: web, name: Web and design }
`,
    'identity/users.yaml': `users:
  - { user_id: ada, team_id: platform, email: ada@example.com }
  - { user_id: grace, team_id: payments, email: grace@example.com }
  - { user_id: linus, team_id: payments, email: linus@example.com }
  - { user_id: margaret, team_id: web, email: margaret@example.com }
`,
    'identity/repos.yaml': `repos:
  - { repo_id: payments-core, team_id: payments, remotes: ["https://github.com/acme/payments-core"], owners: [grace], sensitivity: high }
  - { repo_id: website, team_id: web, remotes: ["https://github.com/acme/website"], owners: [margaret], sensitivity: low }
`,
  };
}
