// The official SDK reads what we write: another reader than our own.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isFailure, type JsonObject } from '@subluminal/contracts';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalAnswer, refusalStream } from './refusals.ts';
import { wireFor } from './registry.ts';
import type { WireName } from './shared/form.ts';
import { sseReader } from './shared/sse.ts';
import { type Translation, translate } from './translate.ts';
import { FIXTURES } from './wires.test-support.ts';

interface Reply {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly text: string;
}

let reply: Reply = { status: 500, headers: {}, text: '' };
let requestCount = 0;
let server: Server;
let client: OpenAI;

beforeAll(async () => {
  server = createServer((request, response) => {
    requestCount += 1;
    request.resume();
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(reply.text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  client = new OpenAI({ apiKey: 'sk-test', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 3 });
});

afterAll(async () => {
  server.close();
  await once(server, 'close');
});

function anthropicTurn(from: WireName): Translation {
  const translation = translate({
    from: wireFor(from),
    to: wireFor('anthropic_messages'),
    body: FIXTURES[from].request,
    model: 'claude-sonnet-4-6',
  });
  if (isFailure(translation)) throw new Error(translation.message);
  return translation;
}

function answered(from: WireName): void {
  const answer = anthropicTurn(from).answer(FIXTURES.anthropic_messages.answer);
  if (isFailure(answer)) throw new Error(answer.message);
  reply = { status: 200, headers: {}, text: JSON.stringify(answer.value) };
}

function streamed(from: WireName): void {
  const stream = anthropicTurn(from).stream({ createdSec: 1_700_000_000 });
  const bytes = new TextEncoder().encode(FIXTURES.anthropic_messages.stream);
  const events = sseReader({ eventBytesMax: 100_000 }).push(bytes);
  sse([...events.map((event) => stream.push(event)), stream.end()].join(''));
}

function sse(text: string): void {
  reply = { status: 200, headers: { 'content-type': 'text/event-stream' }, text };
}

const CHAT_BODY = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const RESPONSES_BODY = { model: 'm', input: 'Hi' };
const CALLS = [
  { id: 'toolu_1', function: { name: 'look', arguments: '{"at":"cat"}' } },
  { id: 'toolu_2', function: { name: 'list_files', arguments: '{}' } },
];
const ITEMS = [
  { type: 'reasoning', summary: [{ text: 'Two calls.' }] },
  { type: 'message', content: [{ type: 'output_text', text: 'I look.' }] },
  { type: 'function_call', call_id: 'toolu_1', name: 'look', arguments: '{"at":"cat"}' },
  { type: 'function_call', call_id: 'toolu_2', name: 'list_files', arguments: '{}' },
];

describe('the openai SDK', () => {
  it('reads a chat answer of Claude', async () => {
    answered('openai_chat_completions');
    const { choices, usage } = await client.chat.completions.create(CHAT_BODY);
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'I look.', tool_calls: CALLS },
    });
    expect(usage).toMatchObject({ prompt_tokens: 150, completion_tokens: 40, total_tokens: 190 });
  });

  it('reads a chat stream of Claude', async () => {
    streamed('openai_chat_completions');
    const stream = client.chat.completions.stream({
      ...CHAT_BODY,
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'I look.', tool_calls: CALLS },
    });
    expect(usage?.total_tokens).toBe(190);
  });

  it('reads a response of Claude', async () => {
    answered('openai_responses');
    const response = await client.responses.create(RESPONSES_BODY);
    expect(response.output).toMatchObject(ITEMS);
    expect(response.output_text).toBe('I look.');
    expect(response.usage).toMatchObject({ input_tokens: 150, output_tokens: 40 });
  });

  it('reads a stream of Claude as a response', async () => {
    streamed('openai_responses');
    const stream = client.responses.stream(RESPONSES_BODY);
    const sequence: number[] = [];
    stream.on('event', (event) => sequence.push(event.sequence_number));
    const response = await stream.finalResponse();
    expect(response.status).toBe('completed');
    expect(response.output).toMatchObject(ITEMS);
    expect(sequence).toEqual(sequence.map((_, index) => index));
  });

  it('reports a budget at once, without trying again', async () => {
    requestCount = 0;
    const refusal = {
      kind: 'budget',
      message: 'The budget is used up.',
      ruleIds: [],
      headers: {},
    } as const;
    const wire = wireFor('openai_chat_completions');
    const { status, headers, body } = refusalAnswer(wire, refusal, { nowMs: 0 });
    reply = { status, headers, text: JSON.stringify(body) };
    await expect(client.chat.completions.create(CHAT_BODY)).rejects.toMatchObject({
      status: 429,
      code: 'insufficient_quota',
      message: expect.stringContaining('The budget is used up.') as string,
    });
    expect(requestCount).toBe(1);
  });

  it('shows a refusal in an open stream as the words of the assistant', async () => {
    const options = { id: 'r-1', model: 'm', hasUsage: false };
    const refusal = { message: 'Nobody approved this.' };
    sse(refusalStream(wireFor('openai_chat_completions'), refusal, options));
    const chat = await client.chat.completions.stream(CHAT_BODY).finalChatCompletion();
    expect(chat.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'Nobody approved this.' },
    });
    sse(refusalStream(wireFor('openai_responses'), refusal, options));
    const response = await client.responses.stream(RESPONSES_BODY).finalResponse();
    expect(response.output_text).toBe('Nobody approved this.');
  });

  it('hears of an error in a chat stream', async () => {
    const wire = wireFor('openai_chat_completions');
    const error = { status: 502, type: 'api_error', message: 'The provider broke off.' };
    sse(wire.writeErrorEvent(error));
    await expect(client.chat.completions.stream(CHAT_BODY).finalChatCompletion()).rejects.toThrow(
      'The provider broke off.',
    );
  });
});

describe('the events of a response', () => {
  it('say whether the answer is cut off, and why', async () => {
    const writer = wireFor('openai_responses').answerWriter();
    const write = (...events: Parameters<typeof writer.push>[0][]) =>
      events.map((event) => writer.push(event)).join('');
    sse(
      write(
        { type: 'start', id: 'r', model: 'm' },
        { type: 'block_start', block: { type: 'text', text: '' } },
        { type: 'text', text: 'Half' },
        { type: 'block_end' },
        { type: 'stop', stop: 'max_tokens' },
        { type: 'end' },
      ),
    );
    const response = await client.responses.stream(RESPONSES_BODY).finalResponse();
    const wanted: JsonObject = { reason: 'max_output_tokens' };
    expect(response.incomplete_details).toEqual(wanted);
  });
});
