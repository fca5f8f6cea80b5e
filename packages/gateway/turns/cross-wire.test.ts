// A client of one wire with an upstream of another, and each wire on its own: read by the official SDKs.
import Anthropic from '@anthropic-ai/sdk';
import type { ProviderName } from '@subluminal/core/routing';
import type { WireName } from '@subluminal/core/wires';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { providerFor } from '../providers/registry/index.ts';
import { endpointAt, governedEngine, TAIL } from './testing/governed-engine.ts';
import { bodyOf, loopback } from './testing/loopback.ts';

const event = (name: string, data: object) =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;

const USAGE = { input_tokens: 11, output_tokens: 7 };
const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream-model' };
const WORDS = 'Hello, wörld';

const ANTHROPIC_STREAM = [
  event('message_start', { message: { ...MESSAGE, content: [], stop_reason: null, usage: USAGE } }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello, ' } }),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'wörld' } }),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }),
  event('message_stop', {}),
].join('');
const ANTHROPIC_WHOLE = {
  ...MESSAGE,
  content: [{ type: 'text', text: WORDS }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: USAGE,
};

const CHUNK = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'upstream-model',
};
const CHAT_USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const chunk = (delta: object, finish_reason: string | null = null) =>
  data({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }] });
const CHAT_USAGE_CHUNK = data({ ...CHUNK, choices: [], usage: CHAT_USAGE });
const CHAT_HEAD = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Hello, ' }),
  chunk({ content: 'wörld' }),
  chunk({}, 'stop'),
].join('');
const DONE = 'data: [DONE]\n\n';
const CHAT_WHOLE = {
  ...CHUNK,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: WORDS }, finish_reason: 'stop' }],
  usage: CHAT_USAGE,
};

const UPSTREAMS = {
  anthropic: { stream: ANTHROPIC_STREAM, whole: ANTHROPIC_WHOLE },
  openai_compat: { stream: CHAT_HEAD + CHAT_USAGE_CHUNK + DONE, whole: CHAT_WHOLE },
} satisfies { [N in ProviderName]?: object };
type Speaking = keyof typeof UPSTREAMS;

async function engineFor(name: Speaking, wire: WireName, tail = TAIL) {
  const asked: { path: string | undefined; body: Record<string, unknown> }[] = [];
  const { url } = await loopback(async (request, response) => {
    const body = JSON.parse((await bodyOf(request)).toString()) as Record<string, unknown>;
    asked.push({ path: request.url, body });
    const { stream, whole } = UPSTREAMS[name];
    if (body['stream'] !== true) {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(whole));
    } else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream);
  });
  const engine = await governedEngine([url], {
    tail,
    route: { wire, kind: 'answer', path: '/?beta=true' },
    attempt: { provider: providerFor(name), endpoint: endpointAt(url, { provider: name }) },
  });
  return { ...engine, asked };
}

const SEEN = { usage: { inputTokens: 11, outputTokens: 7 }, isComplete: true, hasContent: true };

test.each<Speaking>(['anthropic', 'openai_compat'])(
  'the SDK of Anthropic reads the answers of %s',
  async (name) => {
    verifies('R-14');
    const engine = await engineFor(name, 'anthropic_messages');
    const client = new Anthropic({ baseURL: engine.url, apiKey: 'k', maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'hi' }];
    const ask = { model: 'm', max_tokens: 50, messages };
    const streamed = await client.messages.stream(ask).finalMessage();
    const whole = await client.messages.create(ask);
    for (const { content, stop_reason, usage } of [streamed, whole]) {
      expect(content).toMatchObject([{ type: 'text', text: WORDS }]);
      expect([stop_reason, usage.input_tokens, usage.output_tokens]).toEqual(['end_turn', 11, 7]);
    }
    expect(engine.asked.map(({ body }) => body['model'])).toEqual([
      'upstream-model',
      'upstream-model',
    ]);
    expect(engine.told.attempts).toMatchObject([{ observed: SEEN }, { observed: SEEN }]);
    expect(engine.told.ends).toMatchObject([{ isPartial: false }, { isPartial: false }]);
  },
);

test.each<Speaking>(['anthropic', 'openai_compat'])(
  'the SDK of OpenAI reads the answers of %s as chat',
  async (name) => {
    const engine = await engineFor(name, 'openai_chat_completions', '');
    const client = new OpenAI({ baseURL: engine.url, apiKey: 'k', maxRetries: 0 });
    const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
    let text = '';
    for await (const { choices } of await client.chat.completions.create({
      ...ask,
      stream: true,
    })) {
      text += choices[0]?.delta.content ?? '';
      expect(choices, 'a client that asked for no usage gets no chunk without choices').not.toEqual(
        [],
      );
    }
    expect(text).toBe(WORDS);
    const whole = await client.chat.completions.create(ask);
    expect(whole.choices[0]?.message.content).toBe(WORDS);
    expect(whole.usage).toMatchObject(CHAT_USAGE);
    expect(engine.told.attempts).toMatchObject([{ observed: SEEN }, { observed: SEEN }]);
  },
);

test.each<Speaking>(['anthropic', 'openai_compat'])(
  'the SDK of OpenAI reads the answers of %s as responses',
  async (name) => {
    const engine = await engineFor(name, 'openai_responses', '');
    const client = new OpenAI({ baseURL: engine.url, apiKey: 'k', maxRetries: 0 });
    const ask = { model: 'm', input: 'hi' };
    const streamed = await client.responses.stream(ask).finalResponse();
    const whole = await client.responses.create(ask);
    for (const { output_text, usage } of [streamed, whole]) {
      expect([output_text, usage?.input_tokens, usage?.output_tokens]).toEqual([WORDS, 11, 7]);
    }
  },
);

test('the tail stands before the last event of the client’s wire, whatever the upstream speaks', async () => {
  verifies('R-15');
  const post = async (name: Speaking, wire: WireName, body: object) => {
    const engine = await engineFor(name, wire);
    const init = { method: 'POST', body: JSON.stringify({ model: 'm', stream: true, ...body }) };
    return (await fetch(engine.url, init)).text();
  };
  const messages = [{ role: 'user', content: 'hi' }];
  const anthropic = await post('openai_compat', 'anthropic_messages', { messages, max_tokens: 9 });
  expect(anthropic.split(TAIL)[1]).toMatch(/^event: message_delta\n.*\n\nevent: message_stop\n/);
  const chat = await post('anthropic', 'openai_chat_completions', { messages });
  expect(chat.split(TAIL)[1]).toMatch(/^data: .*"finish_reason":"stop".*\n\ndata: \[DONE\]\n\n$/);
  const responses = await post('anthropic', 'openai_responses', { input: 'hi' });
  expect(responses.split(TAIL)[1]).toMatch(/^event: response.completed\n/);
  const same = await post('openai_compat', 'openai_chat_completions', { messages });
  expect(same).toBe(CHAT_HEAD + TAIL + DONE);
});

test('a chat client that asks for the usage gets it', async () => {
  const engine = await engineFor('openai_compat', 'openai_chat_completions');
  const body = { model: 'm', stream: true, stream_options: { include_usage: true }, messages: [] };
  const answer = await fetch(engine.url, { method: 'POST', body: JSON.stringify(body) });
  expect(await answer.text()).toBe(CHAT_HEAD + CHAT_USAGE_CHUNK + TAIL + DONE);
});

test.each([
  '"stream_options":{"include_usage":false,"include_obfuscation":false}',
  '"stream\\u005foptions":{"include_obfuscation":false,"include_usage":null}',
  '"stream_options":null',
])('a chat client can not keep the usage of its stream back: %s', async (options) => {
  const engine = await engineFor('openai_compat', 'openai_chat_completions');
  const body = `{"model":"m","stream":true,${options},"messages":[]}`;
  const answer = await fetch(engine.url, { method: 'POST', body });
  expect(await answer.text()).toBe(CHAT_HEAD + TAIL + DONE);
  expect(engine.asked[0]?.body).toMatchObject({ stream_options: { include_usage: true } });
  expect(engine.told.attempts[0]?.observed.usage).toBeDefined();
});

test('what the other wire can not carry is named', async () => {
  const engine = await engineFor('openai_compat', 'anthropic_messages');
  const cached = { type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } };
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: [cached] }] };
  const answer = await fetch(engine.url, { method: 'POST', body: JSON.stringify(body) });
  expect(answer.headers.get('x-aicg-degraded-features')).toContain('cache_control');
  expect(answer.headers.get('x-aicg-routed-to')).toBe('upstream-1:upstream-model');
  expect(engine.told.attempts[0]?.degraded).toContain('cache_control');
  expect(engine.asked[0]?.path).toBe('/v1/chat/completions');
});

test('a request that can not cross is refused, and the turn is settled', async () => {
  const engine = await engineFor('anthropic', 'openai_responses');
  const body = { model: 'm', input: 'hi', previous_response_id: 'resp_1' };
  const answer = await fetch(engine.url, { method: 'POST', body: JSON.stringify(body) });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('previous_response_id');
  expect(engine.told.ends).toMatchObject([{ status: 400, isPartial: false }]);
});

test('errors and cuts of an upstream of another wire come in the words of the client', async () => {
  const { url } = await loopback(async (request, response) => {
    const body = (await bodyOf(request)).toString();
    if (!body.includes('"stream":true')) {
      response.writeHead(429, { 'content-type': 'application/json' });
      return response.end(
        '{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}',
      );
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.write(CHAT_HEAD.slice(0, -30), () => response.destroy());
  });
  const engine = await governedEngine([url], {
    attempt: {
      provider: providerFor('openai_compat'),
      endpoint: endpointAt(url, { provider: 'openai_compat' }),
    },
  });
  const ask = (stream: boolean) => {
    const body = { model: 'm', max_tokens: 9, stream, messages: [{ role: 'user', content: 'hi' }] };
    return fetch(engine.url, { method: 'POST', body: JSON.stringify(body) });
  };
  const limited = await ask(false);
  expect(limited.status).toBe(429);
  expect(await limited.json()).toMatchObject({
    type: 'error',
    error: { type: 'rate_limit_error' },
  });
  const cut = await (await ask(true)).text();
  expect(cut.split(TAIL)[1]).toMatch(/^event: error\n/);
  expect(engine.told.ends).toMatchObject([{ status: 429 }, { isPartial: true }]);
});
