import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { writeConfig } from '../config/testing/config-folder.ts';
import { anthropicAnswer, pendingApproval, runningGateway } from './testing/running-gateway.ts';

const ASKED = { model: 'any', max_tokens: 100, messages: [{ role: 'user', content: 'Hello?' }] };
const TOKEN = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');

describe('a turn through the gateway', () => {
  it('goes to the pool with the key of the endpoint, and is on record', async () => {
    const gateway = await runningGateway();
    const answer = await gateway.turn(ASKED);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject(anthropicAnswer('Hello.'));
    const [sent] = gateway.upstream;
    expect(sent?.headers['x-api-key']).toBe('key-of-the-test');
    expect(JSON.parse(sent?.body ?? '')).toEqual({ ...ASKED, model: 'claude-sonnet-4-6' });
    const traceId = answer.headers.get('x-aicg-trace-id') ?? '';
    const trace = await (await gateway.ask(`/api/v1/audit/${traceId}`)).json();
    expect(trace).toMatchObject({
      costs: [{ input_tokens: 1_000, output_tokens: 100, cost_micros: 4_500 }],
    });
  });

  it('needs a key that is known', async () => {
    const gateway = await runningGateway();
    const answer = await gateway.turn(ASKED, { key: 'sk-sub-wrong' });
    expect(answer.status).toBe(401);
    expect(gateway.upstream).toEqual([]);
  });

  it('needs the key itself: the session of a page is none', async () => {
    const pages = mkdtempSync(join(tmpdir(), 'sub-pages-'));
    onTestFinished(() => rmSync(pages, { recursive: true, force: true }));
    writeFileSync(join(pages, 'index.html'), '<!doctype html><title>Subluminal</title>');
    const gateway = await runningGateway({ pages });
    const { url, key } = gateway;
    const page = await fetch(`${url}/cost`);
    expect([page.status, await page.text()]).toEqual([
      200,
      '<!doctype html><title>Subluminal</title>',
    ]);
    const login = await gateway.ask('/api/v1/login', { body: { api_key: key } });
    const { page_token: pageToken } = (await login.json()) as { page_token: string };
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const headers = { cookie, 'x-sub-page': pageToken, 'content-type': 'application/json' };
    const session = await fetch(`${url}/api/v1/session`, { headers });
    expect(await session.json()).toMatchObject({ plane: 'gateway', user: 'ada' });
    const turn = { method: 'POST', headers, body: JSON.stringify(ASKED) };
    for (const path of ['/v1/messages', '/v1/agent/forward']) {
      expect((await fetch(url + path, turn)).status).toBe(401);
    }
    expect((await fetch(`${url}/v1/models`, { headers })).status).toBe(401);
    expect(gateway.upstream).toEqual([]);
    const health = await fetch(url, { method: 'HEAD' });
    expect([health.status, health.headers.get('content-type')]).toEqual([200, 'text/plain']);
  });

  it('is blocked by a rule, and the audit says so', async () => {
    verifies('R-P1.5');
    const gateway = await runningGateway({
      files: {
        'policies/main.yaml': `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: NO-SECRETS, priority: 10, when: server_class.has_secret_finding, action: block }
`,
      },
    });
    const answer = await gateway.turn({
      ...ASKED,
      messages: [{ role: 'user', content: `Use ${TOKEN}.` }],
    });
    expect(answer.status).toBe(451);
    expect(await answer.text()).toContain('NO-SECRETS');
    expect(gateway.upstream).toEqual([]);
    const found = await (await gateway.ask('/api/v1/audit/search?event_type=turn_blocked')).json();
    expect(found).toMatchObject({ items: [{ rule_ids: ['NO-SECRETS'] }] });
  });

  it('is refused in the words of the rule', async () => {
    const gateway = await runningGateway({
      files: {
        'policies/main.yaml': `version: 1
rules:
  - { id: CLOSED, when: "true", action: block, reasons: ["Closed for the audit. Come back on Monday."] }
`,
      },
    });
    const answer = await gateway.turn(ASKED);
    expect(answer.status).toBe(451);
    expect(await answer.text()).toContain(
      'Closed for the audit. Come back on Monday. (rule CLOSED)',
    );
  });

  it('loses its secrets where a rule redacts', async () => {
    verifies('R-P1.5');
    const gateway = await runningGateway({
      files: {
        'policies/main.yaml': `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: REDACT, priority: 10, when: server_class.has_secret_finding, action: redact }
`,
      },
    });
    const answer = await gateway.turn({
      ...ASKED,
      messages: [{ role: 'user', content: `Use ${TOKEN}.` }],
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-aicg-modifiers')).toBe('redact');
    expect(gateway.upstream[0]?.body).toMatch(/Use \[REDACTED-GITHUB-TOKEN-[0-9A-F]{8}\]\./);
  });

  it('waits for a person, and goes on when they approve', async () => {
    verifies('R-P1.6');
    const gateway = await runningGateway({
      files: {
        'policies/main.yaml': `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: ASK, priority: 10, when: 'request.model == "dear"', action: require_approval, reasons: [Dear models need a person.] }
`,
      },
    });
    const waiting = gateway.turn({ ...ASKED, model: 'dear' });
    const id = await pendingApproval(gateway);
    const listed = await (await gateway.ask('/api/v1/approvals?state=pending')).json();
    expect(listed).toMatchObject({
      approvals: [{ id, snapshot: { why: 'Dear models need a person.' } }],
    });
    expect(gateway.upstream).toEqual([]);
    const said = await gateway.ask(`/api/v1/approvals/${id}/approve`, { body: { note: 'go' } });
    expect(said.status).toBe(200);
    expect((await waiting).status).toBe(200);
    expect(gateway.upstream).toHaveLength(1);
  });

  it('is refused when the money is gone', async () => {
    verifies('R-P1.3');
    const gateway = await runningGateway({
      files: { 'budgets.yaml': 'defaults:\n  user_daily: { cap_usd: 0.01 }\n' },
    });
    const answers = [];
    for (let turn = 0; turn < 4; turn++) answers.push(await gateway.turn(ASKED));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(429);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('x-should-retry')).toBe('false');
    expect(await refused?.text()).toContain('budget');
  });

  it('reserves all that it may answer, also beyond the default of the pool', async () => {
    const gateway = await runningGateway({
      files: { 'budgets.yaml': 'defaults:\n  user_daily: { cap_usd: 0.6 }\n' },
    });
    // At $15 for a million tokens the default of 32,000 would fit, and 64,000 do not.
    const answer = await gateway.turn({ ...ASKED, max_tokens: 64_000 });
    expect(answer.status).toBe(429);
    expect((await gateway.turn({ ...ASKED, max_tokens: 32_000 })).status).toBe(200);
  });

  it('falls back to the next member of the chain', async () => {
    verifies('R-P1.2');
    const gateway = await runningGateway({
      answer: (response, { path }) => {
        response.setHeader('content-type', 'application/json');
        if (path === '/v1/messages') return response.writeHead(500).end('{}');
        return response.end(
          JSON.stringify({
            id: 'c1',
            object: 'chat.completion',
            created: 1,
            model: 'qwen2.5-coder',
            choices: [
              { index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' },
            ],
            usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
          }),
        );
      },
    });
    const answer = await gateway.turn(ASKED);
    expect(await answer.json()).toMatchObject({ content: [{ type: 'text', text: 'Hi.' }] });
    expect(answer.headers.get('x-aicg-routed-to')).toBe('local:qwen2.5-coder');
    expect(gateway.upstream.map(({ path }) => path)).toEqual([
      '/v1/messages',
      '/v1/chat/completions',
    ]);
  });
});

describe('the settings of a gateway', () => {
  it('stay when the changed ones are broken, and the log names every error', async () => {
    const gateway = await runningGateway();
    writeConfig(gateway.dir, {
      'budgets.yaml':
        'users:\n  bob: { daily: { cap_usd: 1 } }\n  eve: { daily: { cap_usd: 1 } }\n',
    });
    await gateway.ask('/api/v1/policy/reload', { body: {} });
    const broken = gateway.log.findIndex((line) => line.includes('broken, and the old one stays'));
    expect(gateway.log.slice(broken + 1, broken + 3)).toEqual([
      expect.stringMatching(/^budgets\.yaml:2:3: error: .*`bob`/),
      expect.stringMatching(/^budgets\.yaml:3:3: error: .*`eve`/),
    ]);
  });

  const SETTINGS = `telemetry: { metrics_token_ref: 'env://TEST_ANTHROPIC_KEY' }
bindings: { lifetime_days: 2 }
clients: { version_latest: 9.9.9 }
`;

  it('give a scraper its token, and the metrics count what budgets refuse', async () => {
    const gateway = await runningGateway({
      files: {
        'gateway.yaml': SETTINGS,
        'budgets.yaml': 'defaults:\n  user_daily: { cap_usd: 0.000001 }\n',
      },
    });
    expect((await gateway.turn(ASKED)).status).toBe(429);
    const scraped = await gateway.ask('/metrics', { key: 'key-of-the-test' });
    expect(await scraped.text()).toContain(
      'subluminal_gateway_budget_events_total{scope="user_day",event="hard"} 1',
    );
    expect((await gateway.ask('/metrics', { key: 'another' })).status).toBe(401);
  });

  it('say how long a binding holds, and which version is the latest', async () => {
    const gateway = await runningGateway({ files: { 'gateway.yaml': SETTINGS } });
    const beforeMs = Date.now();
    const body = { remote_url: 'https://github.com/acme/any', machine_id: 'm1' };
    const bound = (await (await gateway.ask('/api/v1/repo/bind', { body })).json()) as {
      expires_at_ms: number;
    };
    const days = (bound.expires_at_ms - beforeMs) / 86_400_000;
    expect(days).toBeGreaterThanOrEqual(2);
    expect(days).toBeLessThan(3);
    const check = await gateway.ask('/api/v1/lp/version-check?version=0.1.0');
    expect(await check.json()).toMatchObject({ latest_version: '9.9.9' });
  });
});

const NO_MODEL = 'Subluminal: No pool of the gateway has a model of this name.';

describe('the models of the gateway', () => {
  it.each([
    ['with the version of Anthropic', '/v1/models', { 'anthropic-version': '2023-06-01' }, 'type'],
    ['under the prefix of Anthropic', '/anthropic/v1/models', {}, 'type'],
    ['under the prefix of OpenAI', '/openai/v1/models', { 'anthropic-version': '1' }, 'object'],
    ['with nothing else', '/v1/models', {}, 'object'],
  ])('are told in the shape of the client %s', async (_, path, headers, member) => {
    const gateway = await runningGateway();
    const entry = { id: 'claude-sonnet-4-6', [member]: 'model' };
    const listed = await gateway.ask(path, { headers });
    expect(await listed.json()).toMatchObject({ data: [entry, { id: 'qwen2.5-coder' }] });
    const one = await gateway.ask(`${path}/claude-sonnet-4-6`, { headers });
    expect(await one.json()).toMatchObject(entry);
    const none = await gateway.ask(`${path}/%zz`, { headers });
    expect(none.status).toBe(404);
    expect(await none.json()).toMatchObject({ error: { message: NO_MODEL } });
  });
});
