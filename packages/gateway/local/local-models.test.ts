// One developer's run, as the official SDK sees it: a real hub, a real server, a scripted upstream.
import { request as httpRequest } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { isFailure, POLICY_HELD_BACK } from '@subluminal/contracts';
import { openDesk } from '@subluminal/plane/approvals';
import { uuidv7 } from 'uuidv7';
import { expect, test } from 'vitest';
import {
  type LocalRun,
  type ScriptedAnswer,
  scriptedUpstream,
  startLocalRun,
} from './testing/local-run.ts';
import { askedFor } from './upstreams.ts';

const MODEL = 'claude-sonnet-4-6';
const SECRET = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
/** The files of a policy are looked at twice a second. */
const POLL = { timeout: 10_000 };
const ALLOW =
  '  - { rule_id: all, kind: allow, match: { subjects: [turn] }, effect: { action: ALLOW } }\n';

function streamed(): ScriptedAnswer {
  const usage = { input_tokens: 100, cache_read_input_tokens: 1_000, output_tokens: 1 };
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: MODEL,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I read it.' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '{}' },
    },
    { type: 'content_block_stop', index: 1 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 20 },
    },
    { type: 'message_stop' },
  ];
  const text = events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join('');
  return { type: 'text/event-stream', text };
}

function client({ ready }: LocalRun): Anthropic {
  const baseURL = ready.env['ANTHROPIC_BASE_URL'];
  return new Anthropic({ baseURL: baseURL ?? '', apiKey: 'sk-ant-own-key' });
}

function ask(run: LocalRun, content = 'Read the file.') {
  return client(run)
    .messages.stream({ model: MODEL, max_tokens: 500, messages: [{ role: 'user', content }] })
    .finalMessage();
}

/** Answers the first request for approval, as a person does. */
function decideFirst(
  run: LocalRun,
  answer: { readonly state: 'approved' | 'rejected'; readonly note?: string },
): void {
  const desk = openDesk({ home: run.home, ports: { nowMs: () => Date.now(), uuid: uuidv7 } });
  if (isFailure(desk)) throw new Error(desk.message);
  const id = run.of('approval')[0]?.approval.id ?? '';
  desk.decide(id, { ...answer, by: 'me', channel: 'test' });
}

test('a turn goes on with the own key, comes back as it is, and is on record', async () => {
  const upstream = await scriptedUpstream(streamed);
  const run = await startLocalRun({ rules: ALLOW, env: { ANTHROPIC_BASE_URL: upstream.url } });
  const message = await ask(run);
  expect(message.content).toMatchObject([
    { text: 'I read it.' },
    { type: 'tool_use', id: 'toolu_1' },
  ]);
  expect(upstream.seen).toHaveLength(1);
  expect(upstream.seen[0]).toMatchObject({
    url: '/v1/messages',
    headers: { authorization: 'Bearer sk-ant-own-key' },
  });
  expect(JSON.parse(upstream.seen[0]?.body ?? '')).toMatchObject({ model: MODEL, stream: true });
  await expect.poll(() => run.of('turn_end')).toHaveLength(1);
  expect(run.events.map(({ type }) => type)).toEqual(['turn_start', 'turn_decision', 'turn_end']);
  expect(run.of('turn_decision')[0]?.decision).toMatchObject({ action: 'ALLOW', rule_id: 'all' });
  expect(run.of('turn_end')[0]).toMatchObject({
    call: { provider: 'anthropic', model: MODEL },
    status: 'OK',
    // 100 at $3, 1,000 from the cache at $0.30 and 20 at $15, for a million each.
    usage: { tokens_in: 1_100, tokens_out: 20, cache_read_tokens: 1_000, cost_micros: 900 },
    tool_calls: [{ id: 'toolu_1', name: 'Read' }],
    stop_reason: 'tool_use',
  });
  expect(JSON.stringify(run.events)).not.toContain('Read the file');
  expect(await run.end()).toMatchObject({ calls_total: 1, calls_allowed: 1, errors_total: 0 });
});

test('the record of a turn says when its answer began', async () => {
  const heldMs = 20;
  const upstream = await scriptedUpstream(() => {
    for (const until = performance.now() + heldMs; performance.now() < until; );
    return streamed();
  });
  const run = await startLocalRun({ rules: ALLOW, env: { ANTHROPIC_BASE_URL: upstream.url } });
  await ask(run);
  await expect.poll(() => run.of('turn_end')).toHaveLength(1);
  const { first_byte_ms = 0, latency_ms } = run.of('turn_end')[0] ?? {};
  expect(first_byte_ms).toBeGreaterThanOrEqual(heldMs);
  expect(first_byte_ms).toBeLessThanOrEqual(latency_ms ?? 0);
});

test('a secret in a prompt never reaches the provider', async () => {
  const upstream = await scriptedUpstream(streamed);
  const sections = 'content: { outbound: { secret: block } }\n';
  const env = { ANTHROPIC_BASE_URL: upstream.url };
  const run = await startLocalRun({ rules: ALLOW, sections, env });
  await ask(run, `The token is ${SECRET}, use it.`);
  const [first] = upstream.seen;
  expect(first?.body).toContain('The token is [REDACTED-GITHUB-TOKEN-');
  expect(first?.body).not.toContain(SECRET);
  expect(run.of('turn_decision')[0]?.call.content).toMatchObject({ action: 'redact' });
  expect(JSON.stringify(run.events)).not.toContain(SECRET);
});

test('a request that another reader may read otherwise is refused where content is looked at', async () => {
  const upstream = await scriptedUpstream(streamed);
  const env = { ANTHROPIC_BASE_URL: upstream.url };
  const sections = 'content: {}\n';
  const run = await startLocalRun({ rules: ALLOW, sections, env });
  const input = `{"a":"${SECRET}","a":"b"}`;
  const answer = await fetch(`${run.ready.env['ANTHROPIC_BASE_URL']}/v1/messages`, {
    method: 'POST',
    body: `{"model":"${MODEL}","messages":[{"role":"assistant","content":[{"type":"tool_use","input":${input}}]}]}`,
  });
  expect(answer.status).toBe(451);
  expect(await answer.text()).toContain('It has a key twice.');
  expect(upstream.seen).toEqual([]);
  expect(run.of('turn_decision')[0]?.call.content).toEqual({
    action: 'block',
    findings: ['unscanned:not_json'],
  });
});

test('a refused turn does not reach the provider, and the client does not try again', async () => {
  const upstream = await scriptedUpstream(streamed);
  const rules =
    '  - { rule_id: no-sonnet, kind: deny, match: { subjects: [turn], model: { glob: ["*sonnet*"] } }, effect: { action: BLOCK, message: Not this model. } }\n';
  const run = await startLocalRun({ rules, env: { ANTHROPIC_BASE_URL: upstream.url } });
  const refused = await ask(run).catch((cause: unknown) => cause);
  expect(refused).toMatchObject({ status: 451 });
  expect(String(refused)).toContain('Not this model. (rule no-sonnet)');
  const count = client(run).messages.countTokens({
    model: MODEL,
    messages: [{ role: 'user', content: 'x' }],
  });
  await expect(count).rejects.toMatchObject({ status: 451 });
  expect(upstream.seen).toEqual([]);
  expect(run.of('turn_decision')).toHaveLength(1);
  expect(run.of('turn_end')[0]).toMatchObject({
    status: 'ERROR',
    error: { class: 'policy_block' },
  });
  expect(await run.end()).toMatchObject({ calls_total: 1, calls_blocked: 1 });
});

test('a key that the provider repeats in its error is not on record', async () => {
  const upstream = await scriptedUpstream(({ headers }) => {
    const message = `invalid key: ${String(headers.authorization)}`;
    const error = { type: 'authentication_error', message };
    return {
      status: 401,
      type: 'application/json',
      text: JSON.stringify({ type: 'error', error }),
    };
  });
  const run = await startLocalRun({ rules: ALLOW, env: { ANTHROPIC_BASE_URL: upstream.url } });
  const refused = await ask(run).catch((cause: unknown) => cause);
  expect(String(refused)).toContain('sk-ant-own-key');
  await expect.poll(() => run.of('turn_end')).toHaveLength(1);
  expect(run.of('turn_end')[0]?.error?.message).toBe('invalid key: Bearer [key]');
  expect(JSON.stringify(run.events)).not.toContain('sk-ant-own-key');
});

test('a budget in dollars stops the run when it is used up', async () => {
  const upstream = await scriptedUpstream(streamed);
  // A turn reserves 500 tokens of output, which are $0.0075, and costs $0.0009.
  const rules =
    '  - { rule_id: dollars, kind: budget, match: { subjects: [turn] }, effect: { budget: { scope: run, limit_usd: 0.009, on_exceed: BLOCK } } }\n';
  const run = await startLocalRun({ rules, env: { ANTHROPIC_BASE_URL: upstream.url } });
  await ask(run);
  await ask(run);
  const refused = await ask(run).catch((cause: unknown) => cause);
  expect(refused).toMatchObject({ status: 429 });
  expect(String(refused)).toContain('The budget is used up');
  expect(upstream.seen).toHaveLength(2);
  expect(run.of('turn_start')).toHaveLength(3);
});

test('the prices of the user come before the list prices', async () => {
  const upstream = await scriptedUpstream(streamed);
  const config = `[[prices]]
provider = "anthropic"
model = "${MODEL}"
input_cents_per_mtok = 1_000
output_cents_per_mtok = 5_000
cache_read_cents_per_mtok = 50
`;
  const env = { ANTHROPIC_BASE_URL: upstream.url };
  const run = await startLocalRun({ rules: ALLOW, env, config });
  await ask(run);
  // 100 at $10, 1,000 from the cache at $0.50 and 20 at $50, for a million each.
  await expect
    .poll(() => run.of('turn_end'))
    .toMatchObject([{ usage: { cost_micros: 1_000 + 500 + 1_000 } }]);
});

test('a turn that a person approves goes on while its client waits', async () => {
  const upstream = await scriptedUpstream(streamed);
  const rules =
    '  - { rule_id: ask, kind: approval, match: { subjects: [turn] }, effect: { approval: { wait: hold, timeout_ms: 60000 } } }\n';
  const run = await startLocalRun({ rules, env: { ANTHROPIC_BASE_URL: upstream.url } });
  const answered = ask(run);
  await expect.poll(() => run.of('approval')).toHaveLength(1);
  expect(upstream.seen).toEqual([]);
  decideFirst(run, { state: 'approved' });
  expect((await answered).stop_reason).toBe('tool_use');
  expect(upstream.seen).toHaveLength(1);
  expect(run.of('approval').map(({ approval }) => approval.state)).toEqual(['asked', 'approved']);
  expect(run.of('turn_decision')[0]?.decision.action).toBe('ALLOW');
});

test('a turn that a person rejects ends as an answer that says so', async () => {
  const upstream = await scriptedUpstream(streamed);
  const rules =
    '  - { rule_id: ask, kind: approval, match: { subjects: [turn] }, effect: { approval: { wait: hold, timeout_ms: 60000 } } }\n';
  const run = await startLocalRun({ rules, env: { ANTHROPIC_BASE_URL: upstream.url } });
  const answered = ask(run).catch((cause: unknown) => cause);
  await expect.poll(() => run.of('approval')).toHaveLength(1);
  decideFirst(run, { state: 'rejected', note: 'Too dear.' });
  const said = await answered;
  expect(JSON.stringify(said) + String(said)).toContain('Too dear.');
  expect(upstream.seen).toEqual([]);
  expect(run.of('turn_end')[0]).toMatchObject({ status: 'ERROR' });
});

test('an error of the provider comes back, counts as an error and costs nothing', async () => {
  const error = {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'no such model' },
  };
  const upstream = await scriptedUpstream(() => ({
    status: 404,
    type: 'application/json',
    text: JSON.stringify(error),
  }));
  const run = await startLocalRun({ rules: ALLOW, env: { ANTHROPIC_BASE_URL: upstream.url } });
  await expect(ask(run)).rejects.toMatchObject({ status: 404 });
  await expect.poll(() => run.of('turn_end')).toHaveLength(1);
  expect(run.of('turn_end')[0]).toMatchObject({
    status: 'ERROR',
    error: { class: 'upstream_error', message: 'no such model' },
  });
  expect(await run.end()).toMatchObject({ errors_total: 1 });
});

interface Poked {
  readonly status: number;
  readonly text: string;
}

function poke(
  url: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: { [name: string]: string } } = {},
): Promise<Poked> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('upgrade', () => reject(new Error('upgraded')));
    sent.on('error', reject);
    sent.end();
  });
}

test('only who knows the token gets in, and only known paths go on', async () => {
  const upstream = await scriptedUpstream(() => ({
    type: 'application/json',
    text: '{"data":[]}',
  }));
  const run = await startLocalRun({ rules: ALLOW, env: { ANTHROPIC_BASE_URL: upstream.url } });
  const base = run.ready.env['ANTHROPIC_BASE_URL'] ?? '';
  const { origin, host } = new URL(base);
  expect((await poke(`${origin}/t/${'x'.repeat(43)}/anthropic/v1/models`)).status).toBe(401);
  expect((await poke(`${origin}/anthropic/v1/models`)).status).toBe(401);
  expect((await poke(`${base}/v1/models`, { headers: { host: 'evil.example' } })).status).toBe(403);
  const fromPage = { headers: { origin: 'https://evil.example', host } };
  expect((await poke(`${base}/v1/models`, fromPage)).status).toBe(403);
  expect((await poke(`${base}/v1/files`, { method: 'POST' })).status).toBe(404);
  expect((await poke(`${base}/v1/files`, { method: 'PUT' })).status).toBe(404);
  expect((await poke(`${base}/v1/messages/batches/b1/results`)).status).toBe(404);
  const upgrade = { headers: { connection: 'Upgrade', upgrade: 'websocket' } };
  expect((await poke(`${base}/v1/responses`, upgrade)).status).toBe(426);
  expect((await poke(base, { method: 'HEAD' })).status).toBe(200);
  expect(upstream.seen).toEqual([]);
  expect((await poke(`${base}/v1/models?limit=9`)).text).toBe('{"data":[]}');
  expect(upstream.seen[0]?.url).toBe('/v1/models?limit=9');
});

const DENY =
  '  - { rule_id: no-turns, kind: deny, match: { subjects: [turn] }, effect: { action: BLOCK, message: No more turns. } }\n';

test('a policy that gets stricter holds from the next turn on', async () => {
  const upstream = await scriptedUpstream(streamed);
  const run = await startLocalRun({ rules: ALLOW, env: { ANTHROPIC_BASE_URL: upstream.url } });
  await ask(run);
  run.writeRules(DENY);
  await expect.poll(() => run.of('policy_loaded'), POLL).toMatchObject([{ reload: true }]);
  const refused = await ask(run).catch((cause: unknown) => cause);
  expect(String(refused)).toContain('No more turns. (rule no-turns)');
  expect(upstream.seen).toHaveLength(1);
  const [first, second] = run.of('turn_decision').map(({ decision }) => decision.policy);
  expect(second?.policy_hash).toBe(run.of('policy_loaded')[0]?.policy.policy_hash);
  expect(second?.policy_hash).not.toBe(first?.policy_hash);
});

test.each([
  ['is held back', 'tighten', 0],
  ['is taken where any change is', 'any', 1],
] as const)('a policy that lets more turns pass %s', async (_, reload, seen) => {
  const upstream = await scriptedUpstream(streamed);
  const env = { ANTHROPIC_BASE_URL: upstream.url };
  const run = await startLocalRun({ rules: DENY, env, reload });
  run.writeRules(ALLOW);
  const told = () => run.degraded.length + run.of('policy_loaded').length;
  await expect.poll(told, POLL).toBe(1);
  await ask(run).catch(() => undefined);
  expect(upstream.seen).toHaveLength(seen);
  expect(run.degraded).toEqual(seen === 0 ? [POLICY_HELD_BACK] : []);
});

test('a turn that was held goes on only as the policy says by then', async () => {
  const upstream = await scriptedUpstream(streamed);
  const rules =
    '  - { rule_id: ask, kind: approval, match: { subjects: [turn] }, effect: { approval: { wait: hold, timeout_ms: 60000 } } }\n';
  const run = await startLocalRun({ rules, env: { ANTHROPIC_BASE_URL: upstream.url } });
  const refused = ask(run).catch((cause: unknown) => cause);
  await expect.poll(() => run.of('approval')).toHaveLength(1);
  run.writeRules(DENY + rules);
  await expect.poll(() => run.of('policy_loaded'), POLL).toHaveLength(1);
  decideFirst(run, { state: 'approved' });
  const said = await refused;
  expect(JSON.stringify(said) + String(said)).toContain('No more turns.');
  expect(upstream.seen).toEqual([]);
});

test.each([
  ['/openai/v1/models', true],
  ['/codex/models?client_version=1', true],
  ['/anthropic/v1/models/claude-sonnet-4-6', true],
  // Answers that the provider keeps: nobody would have decided about them, or counted them.
  ['/openai/v1/responses/resp_1', false],
  ['/openai/v1/chat/completions/c1', false],
  ['/openai/v1/models/../responses/resp_1', false],
  ['/openai/v1/models/%2e%2E/responses/resp_1', false],
  ['/openai/v1/models\\..\\responses/resp_1', false],
])('a read of %s passes: %j', (path, isPassed) => {
  expect(askedFor('GET', path) !== undefined).toBe(isPassed);
});
