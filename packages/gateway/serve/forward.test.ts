import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { CONFIG_TEXTS } from '../config/testing/config-folder.ts';
import { bodyOf, loopback } from '../turns/testing/loopback.ts';
import { runningGateway, type TestGateway, USAGE } from './testing/running-gateway.ts';

const ENVELOPE = {
  schema_version: '1.0',
  client: { lp_version: '0.1.0', os: 'linux', arch: 'amd64' },
  identity: { user_id: 'mallory', team_id: 'none', machine_id: 'm1' },
  agent: { tool: 'claude_code', wire_protocol: 'anthropic_messages' },
  session: { session_id: 's1', turn_index: 0, is_continuation: false },
  repo: {},
  context_signals: {
    file_paths: [],
    file_fingerprints: [],
    diff_summary: {
      lines_added: 0,
      lines_removed: 0,
      contains_test_failure_keyword: false,
      contains_stack_trace: false,
    },
  },
  task_hints: {
    task_type: 'code_edit',
    complexity: 'low',
    data_sensitivity: 'low',
    agentic_loop: false,
    contains_secret_like_pattern: false,
    contains_pii_like_pattern: false,
    security_sensitive_area: false,
    confidence: { task_type: 1, complexity: 1, data_sensitivity: 1 },
  },
  scan: { pre_scan_engine: 'test', pre_scan_findings: [] },
};
const ASKED = { model: 'any', max_tokens: 100, messages: [{ role: 'user', content: 'Hello?' }] };
const REMOTE = 'git@github.com:acme/payments.git';

const STREAM = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-6',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...USAGE, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: USAGE },
  { type: 'message_stop' },
];
const sse = (events: readonly { type: string }[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const streaming = (files: { readonly [file: string]: string } = {}) =>
  runningGateway({
    files,
    answer: (response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.end(sse(STREAM));
    },
  });

function forward(
  gateway: TestGateway,
  parts: { envelope?: object; body?: object; headers?: { [name: string]: string } } = {},
) {
  return gateway.ask('/v1/agent/forward', {
    headers: { accept: 'text/event-stream', ...parts.headers },
    body: {
      envelope: { ...ENVELOPE, ...parts.envelope },
      wire: {
        protocol: 'anthropic_messages',
        stream: true,
        body: { ...ASKED, ...parts.body, stream: true },
      },
    },
  });
}

describe('what the local proxy forwards', () => {
  it('is answered in the wire of the client, with an event of ours before the end', async () => {
    verifies('R-8', 'R-15');
    const gateway = await streaming();
    const answer = await forward(gateway);
    expect(answer.headers.get('x-aicg-decision')).toBe('route');
    const text = await answer.text();
    const [before, usage = ''] = text.split(/id: .*\nevent: aicg\.usage\n/);
    expect(before).toBe(sse(STREAM.slice(0, -1)));
    const [line = '', , rest] = usage.split('\n');
    expect(JSON.parse(line.slice('data: '.length))).toMatchObject({
      session_id: 's1',
      cost_micros: 4_500,
      cost_cents: 0,
      cost_source: 'provider_usage',
      tokens: { input: 1_000, output: 100, cache_read: 0, cache_create: 0 },
      decision: { primary_action: 'route', model_pool: 'standard' },
      routed_to: 'hosted:claude-sonnet-4-6',
      attempt_no: 1,
      partial: false,
    });
    expect(`${rest}\n`).toContain('event: message_stop');
    expect(gateway.upstream[0]?.body).toBe(
      JSON.stringify({ ...ASKED, stream: true, model: 'claude-sonnet-4-6' }),
    );
  });

  it('counts for the key, whatever the envelope says', async () => {
    const gateway = await streaming();
    await (await forward(gateway)).text();
    const found = await (await gateway.ask('/api/v1/audit/search?event_type=turn')).json();
    expect(found).toMatchObject({
      items: [{ user_id: 'ada', team_id: 'platform', session_id: 's1' }],
    });
  });

  it('names the repository by its binding, which must be of this machine and remote', async () => {
    const gateway = await streaming();
    const bind = await gateway.ask('/api/v1/repo/bind', {
      body: { remote_url: REMOTE, machine_id: 'm1' },
    });
    const { binding_token: token } = (await bind.json()) as { binding_token: string };
    const headers = { 'x-aicg-repo-binding': token };
    const bound = await forward(gateway, { headers, envelope: { repo: { remote_url: REMOTE } } });
    await bound.text();
    const found = await (await gateway.ask('/api/v1/audit/search?event_type=turn')).json();
    expect(found).toMatchObject({ items: [{ repo_id: 'payments' }] });
    const other = await forward(gateway, {
      headers,
      envelope: { identity: { machine_id: 'm2' } },
    });
    expect(other.status).toBe(451);
    expect(await other.text()).toContain('another machine');
    expect(gateway.upstream).toHaveLength(1);
  });

  it('is refused from a proxy that is too old', async () => {
    const gateway = await streaming({
      'gateway.yaml': `${CONFIG_TEXTS['gateway.yaml']}clients: { version_min: 0.2.0 }\n`,
    });
    const old = await forward(gateway, { headers: { 'x-aicg-lp-version': '0.1.9' } });
    expect(old.status).toBe(451);
    expect(await old.text()).toContain('0.2.0');
    const good = await forward(gateway, { headers: { 'x-aicg-lp-version': '0.2.0' } });
    await good.text();
    expect(gateway.upstream).toHaveLength(1);
  });

  it.each([
    ['no JSON', '{"envelope":'],
    ['no wire', JSON.stringify({ envelope: ENVELOPE })],
    ['two bodies', '{"envelope":{},"wire":{"protocol":"anthropic_messages","body":{},"body":{}}}'],
    ['an unknown wire', JSON.stringify({ envelope: ENVELOPE, wire: { protocol: 'x', body: {} } })],
    [
      'a broken envelope',
      JSON.stringify({ envelope: {}, wire: { protocol: 'anthropic_messages', body: ASKED } }),
    ],
  ])('is refused with %s', async (_what, body) => {
    const gateway = await streaming();
    const answer = await fetch(`${gateway.url}/v1/agent/forward`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body,
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('invalid_request_error');
    expect(gateway.upstream).toEqual([]);
  });
});

describe('what is told about turns', () => {
  it('is in the metrics', async () => {
    const gateway = await streaming();
    await (await forward(gateway)).text();
    const metrics = await (await gateway.ask('/metrics')).text();
    expect(metrics).toMatch(
      /turns_total\{wire="anthropic_messages",decision="route",outcome="ok",pool="standard"\} 1/,
    );
    expect(metrics).toContain('subluminal_gateway_cost_dollars_total');
  });

  it('goes to the collector as a span with the GenAI names', async () => {
    const spans: string[] = [];
    const collector = await loopback(async (request, response) => {
      spans.push((await bodyOf(request)).toString());
      response.end('{}');
    });
    const gateway = await runningGateway({
      files: {
        'gateway.yaml': `${CONFIG_TEXTS['gateway.yaml']}telemetry: { otlp_endpoint: "${collector.url}" }\n`,
      },
    });
    await (await gateway.turn(ASKED)).text();
    await gateway.close();
    expect(spans.join('')).toContain('"gen_ai.usage.input_tokens","value":{"intValue":"1000"}');
    expect(spans.join('')).not.toContain('Hello');
  });

  it('counts among the bodies that the gateway has room for, as what comes straight does', async () => {
    const limits = 'limits: { body_bytes_max: 1048576, bodies_bytes_max: 1572864 }';
    const waiting: ServerResponse[] = [];
    const gateway = await runningGateway({
      files: { 'gateway.yaml': `${CONFIG_TEXTS['gateway.yaml']}${limits}\n` },
      answer: (response) => waiting.push(response),
    });
    const large = { ...ASKED, messages: [{ role: 'user', content: 'x'.repeat(1_000_000) }] };
    const first = gateway.turn(large);
    await expect.poll(() => waiting.length).toBe(1);
    expect((await forward(gateway, { body: large })).status).toBe(503);
    expect((await gateway.turn(large)).status).toBe(503);
    waiting[0]?.writeHead(400).end('{}');
    expect((await first).status).toBe(400);
    expect(gateway.upstream).toHaveLength(1);
  });
});
