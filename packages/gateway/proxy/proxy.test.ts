import { join } from 'node:path';
import { agentFiles } from '@subluminal/plane/runs/agent-file';
import { describe, expect, it, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { anthropicAnswer, pendingApproval } from '../serve/testing/running-gateway.ts';
import { loopback } from '../turns/testing/loopback.ts';
import {
  ANSWER_END,
  ANSWER_START,
  ANSWER_TEXT,
  ASKED,
  behindGateway,
  MESSAGES,
  runningProxyFor,
  streamedAnswer,
} from './testing/running-proxy.ts';

const TOKEN = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');

describe('a turn through the proxy', () => {
  it('goes to the gateway with the key of the login, and the client gets the answer', async () => {
    verifies('R-17');
    const { gateway, proxy } = await behindGateway();
    const answer = await proxy.ask(MESSAGES, ASKED, { 'x-claude-code-session-id': 'session-1' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual(anthropicAnswer('Hello.'));
    const traceId = answer.headers.get('x-aicg-trace-id') ?? '';
    const trace = await (await gateway.ask(`/api/v1/audit/${traceId}`)).json();
    expect(trace).toMatchObject({
      events: [{ user_id: 'ada', session_id: 'session-1' }],
      costs: [{ cost_micros: 4_500 }],
    });
    const events = await proxy.close();
    expect(events.map(({ type }) => type)).toEqual([
      'run_start',
      'turn_start',
      'turn_decision',
      'turn_end',
      'run_end',
    ]);
    expect(events[3]).toMatchObject({
      status: 'OK',
      usage: { tokens_in: 1_000, tokens_out: 100, cost_micros: 4_500 },
    });
  });

  it('streams, and what the gateway says of it goes to the ledger instead', async () => {
    verifies('R-21');
    const { proxy } = await behindGateway({ answer: streamedAnswer });
    const answer = await proxy.ask(MESSAGES, { ...ASKED, stream: true });
    expect(await answer.text()).toBe(ANSWER_START + ANSWER_TEXT + ANSWER_END);
    const events = await proxy.close();
    expect(events.at(-2)).toMatchObject({ type: 'turn_end', usage: { cost_micros: 4_500 } });
  });

  it('shows the events of the gateway where that was asked for', async () => {
    const { proxy } = await behindGateway({ answer: streamedAnswer }, { passesEvents: true });
    const answer = await proxy.ask(MESSAGES, { ...ASKED, stream: true });
    expect(await answer.text()).toContain('event: aicg.usage\n');
  });

  test.each([
    [
      '/openai/v1/chat/completions',
      { model: 'any', messages: ASKED.messages },
      /"content":"Hello\."/,
    ],
    ['/openai/v1/responses', { model: 'any', input: 'Hello?' }, /"text":"Hello\."/],
    ['/anthropic/v1/messages/count_tokens', ASKED, /"type":"message"/],
  ])('is taken on %s', async (path, body, expected) => {
    const { proxy } = await behindGateway();
    const answer = await proxy.ask(path, body);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(expected);
  });

  it('is refused by the policy of the gateway in the shape of the client, once', async () => {
    const { gateway, proxy } = await behindGateway({
      files: {
        'policies/main.yaml': `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: NO-SECRETS, priority: 10, when: server_class.has_secret_finding, action: block }
`,
      },
    });
    const content = `Use ${TOKEN}.`;
    const body = { ...ASKED, messages: [{ role: 'user', content }] };
    const answer = await proxy.ask(MESSAGES, body);
    expect(answer.status).toBe(451);
    expect(await answer.text()).toContain('NO-SECRETS');
    expect(gateway.upstream).toEqual([]);
    const events = await proxy.close();
    expect(events[2]).toMatchObject({
      decision: {
        action: 'BLOCK',
        rule_id: 'NO-SECRETS',
        explain: { reason_code: 'GATEWAY_REFUSED' },
      },
    });
    expect(JSON.stringify(events)).not.toContain(TOKEN);
  });

  it('is refused with a way out when the key is not known', async () => {
    const { gateway } = await behindGateway();
    const apiKey = 'sk-sub-not-known-anywhere';
    const proxy = await runningProxyFor({ gatewayUrl: gateway.url, apiKey });
    const answer = await proxy.ask('/openai/v1/responses', { model: 'any', input: 'Hello?' });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    const health = await (await proxy.ask('/_aicg/health')).json();
    expect(health).toMatchObject({ status: 'degraded', problem: { code: 'SUB_GATEWAY_KEY' } });
  });
});

describe('a turn of an agent that `sub run` has started', () => {
  it('belongs to that run, which has its own beginning and end', async () => {
    const { proxy } = await behindGateway();
    const run = { SUB_RUN_ID: 'run-of-the-host', SUB_AGENT_ID: 'reviewer' };
    const files = agentFiles(run);
    expect(files?.write(join(proxy.home, 'run'), process.pid)).toEqual({ kind: 'written' });
    await proxy.ask(MESSAGES, ASKED);
    const events = await proxy.close();
    expect(events.map(({ type }) => type)).toEqual(['turn_start', 'turn_decision', 'turn_end']);
    for (const event of events) {
      expect(event).toMatchObject({ run_id: 'run-of-the-host', agent_id: 'reviewer' });
    }
  });
});

describe('a stream that the gateway holds until a person has decided', () => {
  const ASKING = `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: ASK, priority: 10, when: "true", action: require_approval }
`;

  async function decidedTurn(answer: 'approve' | 'reject') {
    const files = { 'policies/main.yaml': ASKING };
    const { gateway, proxy } = await behindGateway({ files, answer: streamedAnswer });
    const asked = proxy.ask(MESSAGES, { ...ASKED, stream: true });
    const id = await pendingApproval(gateway);
    await gateway.ask(`/api/v1/approvals/${id}/${answer}`, { body: { note: 'Not today.' } });
    const text = await (await asked).text();
    const [, , decided, ended] = await proxy.close();
    return { gateway, text, decided, ended };
  }

  it('goes on when they approve, and the ledger knows where it went', async () => {
    const { text, decided, ended } = await decidedTurn('approve');
    expect(text).toContain(ANSWER_TEXT);
    expect(text).not.toContain('aicg.');
    const summary: unknown = expect.stringContaining('claude-');
    const explain = { reason_code: 'GATEWAY_ROUTED', summary };
    expect(decided).toMatchObject({ decision: { action: 'ALLOW', rule_id: 'ASK', explain } });
    expect(ended).toMatchObject({ status: 'OK', usage: { cost_micros: 4_500 } });
  });

  it('ends with their words when they reject, and the ledger knows that it was refused', async () => {
    const { gateway, text, decided, ended } = await decidedTurn('reject');
    expect(text).toMatch(/rejected by ada: Not today\. \(rule/);
    expect(text).not.toContain('aicg.');
    expect(gateway.upstream).toEqual([]);
    const summary: unknown = expect.stringContaining('Not today');
    const explain = { reason_code: 'GATEWAY_REFUSED', summary };
    expect(decided).toMatchObject({ decision: { action: 'BLOCK', rule_id: 'ASK', explain } });
    expect(ended).toMatchObject({ status: 'ERROR', error: { class: 'policy_block' } });
    expect(ended).not.toHaveProperty('usage.tokens_in');
  });
});

describe('the proxy without its gateway', () => {
  it('lets no turn pass', async () => {
    const { gateway, proxy } = await behindGateway();
    await gateway.close();
    const answer = await proxy.ask(MESSAGES, ASKED);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toMatch(/^\{"type":"error",.*cannot be reached/);
    const asked = { model: 'any', input: 'Hello?' };
    const toCodex: unknown = await (await proxy.ask('/openai/v1/responses', asked)).json();
    // It shows the message of no error with the code `server_is_overloaded`.
    expect(toCodex).toMatchObject({ error: { code: 'service_unavailable' } });
    const events = await proxy.close();
    expect(events[2]).toMatchObject({
      type: 'turn_decision',
      decision: { action: 'BLOCK', explain: { reason_code: 'GATEWAY_UNAVAILABLE' } },
    });
  });

  it('sends turns with the key of the client where the settings say so, and records it', async () => {
    const seen: unknown[] = [];
    const provider = await loopback((request, response) => {
      seen.push([request.url, request.headers['x-api-key']]);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(anthropicAnswer('From afar.')));
    });
    const env = { SUB_PROXY_FALLBACK: 'own', SUB_PROXY_ANTHROPIC_URL: provider.url };
    const { gateway, proxy } = await behindGateway({}, { env });
    await gateway.close();
    const own = await proxy.ask(`${MESSAGES}?beta=true`, ASKED, { 'x-api-key': 'sk-ant-mine' });
    expect(await own.json()).toMatchObject({ content: [{ text: 'From afar.' }] });
    expect(seen).toEqual([['/v1/messages?beta=true', 'sk-ant-mine']]);
    expect((await proxy.ask(MESSAGES, ASKED)).status).toBe(503);
    const events = await proxy.close();
    expect(events.filter(({ type }) => type === 'turn_decision')).toMatchObject([
      { decision: { action: 'ALLOW', explain: { reason_code: 'GATEWAY_FALLBACK' } } },
      { decision: { action: 'BLOCK' } },
    ]);
  });
});

/** The folder of the test may be a repository, which is bound by another request. */
const FORWARD = '/v1/agent/forward';

describe('a link to the gateway that breaks', () => {
  const DEAD = (response: { destroy(): unknown }) => response.destroy();

  it('is tried once more before the first token', async () => {
    verifies('R-20');
    let calls = 0;
    const { url } = await loopback((request, response) => {
      request.resume();
      if (request.url !== FORWARD) return response.writeHead(500).end();
      calls++;
      if (calls === 1) return DEAD(response);
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify(anthropicAnswer('Hello.')));
    });
    const proxy = await runningProxyFor({ gatewayUrl: url, apiKey: 'sk-sub-any-key-of-ours' });
    const answer = await proxy.ask(MESSAGES, ASKED);
    expect(await answer.json()).toEqual(anthropicAnswer('Hello.'));
    expect(calls).toBe(2);
  });

  it('is tried twice at most', async () => {
    verifies('R-20');
    let calls = 0;
    const { url } = await loopback((request, response) => {
      if (request.url === FORWARD) calls++;
      return DEAD(response);
    });
    const proxy = await runningProxyFor({ gatewayUrl: url, apiKey: 'sk-sub-any-key-of-ours' });
    expect((await proxy.ask(MESSAGES, { ...ASKED, stream: true })).status).toBe(503);
    expect(calls).toBe(2);
  });

  it('is tried again behind a 5xx, which is no answer yet', async () => {
    verifies('R-20');
    let calls = 0;
    const { url } = await loopback((request, response) => {
      request.resume();
      if (request.url !== FORWARD || ++calls === 1) return response.writeHead(502).end();
      return streamedAnswer(response);
    });
    const proxy = await runningProxyFor({ gatewayUrl: url, apiKey: 'sk-sub-any-key-of-ours' });
    const answer = await proxy.ask(MESSAGES, { ...ASKED, stream: true });
    expect(await answer.text()).toBe(ANSWER_START + ANSWER_TEXT + ANSWER_END);
    expect(calls).toBe(2);
  });

  it('is not tried again behind the first token: the stream ends with an error', async () => {
    verifies('R-20');
    let calls = 0;
    const { url } = await loopback((request, response) => {
      request.resume();
      if (request.url !== FORWARD) return response.writeHead(500).end();
      calls++;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.write(ANSWER_START + ANSWER_TEXT, () => setImmediate(() => DEAD(response)));
    });
    const proxy = await runningProxyFor({ gatewayUrl: url, apiKey: 'sk-sub-any-key-of-ours' });
    const answer = await proxy.ask(MESSAGES, { ...ASKED, stream: true });
    const text = await answer.text();
    expect(text.startsWith(ANSWER_START + ANSWER_TEXT)).toBe(true);
    expect(text).toMatch(/event: error\ndata: .*"type":"error"/);
    expect(calls).toBe(1);
    const events = await proxy.close();
    expect(events.find(({ type }) => type === 'turn_end')).toMatchObject({ status: 'ERROR' });
  });

  it('does not try a refusal again', async () => {
    let calls = 0;
    const { url } = await loopback((request, response) => {
      request.resume();
      if (request.url === FORWARD) calls++;
      response.writeHead(429, { 'content-type': 'application/json', 'x-should-retry': 'false' });
      response.end('{"type":"error","error":{"type":"rate_limit_error","message":"No money."}}');
    });
    const proxy = await runningProxyFor({ gatewayUrl: url, apiKey: 'sk-sub-any-key-of-ours' });
    const answer = await proxy.ask(MESSAGES, ASKED);
    expect([answer.status, answer.headers.get('x-should-retry'), calls]).toEqual([429, 'false', 1]);
    expect(await answer.text()).toContain('No money.');
  });
});

describe('the address of the proxy', () => {
  it('answers who asks whether anybody is there, and tells about itself', async () => {
    verifies('R-17');
    const { gateway, proxy } = await behindGateway();
    expect((await fetch(proxy.url, { method: 'HEAD' })).status).toBe(200);
    expect(await (await proxy.ask('/_aicg/version')).json()).toEqual({ version: '0.1.0' });
    expect(await (await proxy.ask('/_aicg/whoami')).json()).toMatchObject({
      user_id: 'ada',
      gateway_url: gateway.url,
    });
    expect(await (await proxy.ask('/_aicg/health')).json()).toMatchObject({ status: 'ok' });
    await proxy.ask(MESSAGES, ASKED, { 'session-id': 's-1', 'user-agent': 'codex_cli_rs/0.16' });
    expect(await (await proxy.ask('/_aicg/sessions')).json()).toMatchObject({
      sessions: [{ session_id: 's-1', agent: 'codex_cli', turns: 1 }],
    });
    const models = await (await proxy.ask('/openai/v1/models')).json();
    expect(models).toMatchObject({ object: 'list', data: [{ id: 'claude-sonnet-4-6' }, {}] });
  });

  test.each([
    ['a page of a browser', { origin: 'https://evil.example' }, 403],
    ['another host', { host: 'evil.example' }, 403],
  ])('does not answer %s', async (_, headers, status) => {
    const { proxy } = await behindGateway();
    const { request } = await import('node:http');
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      const asked = request(`${proxy.url}/_aicg/whoami`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject).end();
    });
    expect(answered).toBe(status);
  });

  it('lets nothing unknown pass to the gateway', async () => {
    const { gateway, proxy } = await behindGateway();
    expect((await proxy.ask('/v1/agent/forward', {})).status).toBe(404);
    expect((await proxy.ask('/anthropic/v1/files', {})).status).toBe(404);
    expect(gateway.upstream).toEqual([]);
  });
});

it('a proxy that is too old for the gateway does not start', async () => {
  const started = behindGateway({ files: { 'gateway.yaml': OLD } }, { version: '0.1.0' });
  await expect(started).rejects.toThrow('SUB_PROXY_VERSION');
});

const OLD = 'tenant_id: acme\nclients: { version_min: 0.2.0 }\n';
