import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnswerEvent, Usage } from '../shared/form.ts';
import { sseReader } from '../shared/sse.ts';
import { anthropicWire } from './index.ts';

/** A stream as the documentation of the Messages API shows them: thinking, text and a tool. */
const STREAM = `event: message_start
data: {"type":"message_start","message":{"id":"msg_014p7gG3wDgGV9EUtLvnow3U","type":"message","role":"assistant","model":"claude-opus-4-5","stop_sequence":null,"usage":{"input_tokens":472,"cache_creation_input_tokens":10,"cache_read_input_tokens":7,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":6},"output_tokens":2},"content":[],"stop_reason":null}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me solve it"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Okay, \\"très\\" "}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"bien 😀"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"x"}}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_01T1x1fJ34qAmk2tNTrN7Up6","name":"get_weather","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\\"location\\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":" \\"San Francisco\\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: novel_event
data: {"type":"novel_event"}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

`;

const START_USAGE: Usage = {
  inputTokens: 472,
  outputTokens: 2,
  cacheReadTokens: 7,
  cacheWriteTokens: 10,
  cacheWriteHourTokens: 6,
  isEstimated: false,
};
const SEAL = {
  kind: 'signature',
  wire: 'anthropic_messages',
  value: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h',
} as const;

const EVENTS: readonly AnswerEvent[] = [
  {
    type: 'start',
    id: 'msg_014p7gG3wDgGV9EUtLvnow3U',
    model: 'claude-opus-4-5',
    usage: START_USAGE,
  },
  { type: 'block_start', block: { type: 'thinking', text: '' } },
  { type: 'ping' },
  { type: 'thinking', text: 'Let me solve it' },
  { type: 'seal', seal: SEAL },
  { type: 'block_end' },
  { type: 'block_start', block: { type: 'text', text: '' } },
  { type: 'text', text: 'Okay, "très" ' },
  { type: 'text', text: 'bien 😀' },
  { type: 'block_end' },
  {
    type: 'block_start',
    block: {
      type: 'tool_use',
      id: 'toolu_01T1x1fJ34qAmk2tNTrN7Up6',
      name: 'get_weather',
      input: '',
    },
  },
  { type: 'input', text: '{"location":' },
  { type: 'input', text: ' "San Francisco"}' },
  { type: 'block_end' },
  { type: 'usage', usage: { ...START_USAGE, outputTokens: 89 } },
  { type: 'stop', stop: 'tool_use' },
  { type: 'end' },
];

/** Reads a stream that comes in pieces of these lengths. */
function readStream(text: string, cuts: readonly number[] = []): readonly AnswerEvent[] {
  const bytes = Buffer.from(text);
  const sse = sseReader({ eventBytesMax: 1_000_000 });
  const reader = anthropicWire.answerReader();
  const events: AnswerEvent[] = [];
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    for (const event of sse.push(bytes.subarray(at, at + cut))) events.push(...reader.push(event));
    at += cut;
  }
  return [...events, ...reader.end()];
}

function writeStream(events: readonly AnswerEvent[]): string {
  const writer = anthropicWire.answerWriter();
  return events.map((event) => writer.push(event)).join('');
}

function dataOf(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

describe('a stream of the Anthropic wire', () => {
  it('is read into events', () => {
    expect(readStream(STREAM)).toEqual(EVENTS);
  });

  it('is written so that it reads alike', () => {
    expect(readStream(writeStream(EVENTS))).toEqual(EVENTS);
  });

  it('reads alike however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 700 })), (cuts) => {
        expect(readStream(STREAM, cuts)).toEqual(EVENTS);
      }),
    );
  });

  it('takes the first fragment from the start of a block', () => {
    const text = [
      dataOf({ type: 'message_start', message: { id: 'm', model: 'x' } }),
      dataOf({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: 'Hi' },
      }),
      dataOf({ type: 'content_block_stop', index: 0 }),
      dataOf({
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 'a', name: 'b', input: { c: 1 } },
      }),
      dataOf({ type: 'content_block_stop', index: 1 }),
      dataOf({
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'redacted_thinking', data: 'Emw' },
      }),
      dataOf({ type: 'content_block_stop', index: 2 }),
      dataOf({ type: 'message_stop' }),
    ].join('');
    const seal = { kind: 'encrypted', wire: 'anthropic_messages', value: 'Emw' };
    const events = readStream(text);
    expect(events).toEqual([
      { type: 'start', id: 'm', model: 'x' },
      { type: 'block_start', block: { type: 'text', text: '' } },
      { type: 'text', text: 'Hi' },
      { type: 'block_end' },
      { type: 'block_start', block: { type: 'tool_use', id: 'a', name: 'b', input: '' } },
      { type: 'input', text: '{"c":1}' },
      { type: 'block_end' },
      { type: 'block_start', block: { type: 'thinking', text: '', seal } },
      { type: 'block_end' },
      { type: 'stop', stop: 'end_turn' },
      { type: 'end' },
    ]);
    expect(readStream(writeStream(events))).toMatchObject(events);
  });

  const start = dataOf({ type: 'message_start', message: { id: 'm', model: 'x' } });
  const block = dataOf({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '' },
  });
  it.each([
    ['breaks off', start, 'broke off'],
    ['never starts', '', 'broke off'],
    ['is no JSON', `${start}data: {oops\n\n`, 'not JSON'],
    ['is a list', `${start}data: []\n\n`, 'not JSON'],
    ['starts twice', start + start, 'starts twice'],
    ['has a block before its message', block, 'before its message'],
    ['has a block inside of another', start + block + block, 'inside of another'],
    [
      'has a block without content',
      start + dataOf({ type: 'content_block_start', index: 0 }),
      'no content',
    ],
    [
      'has a fragment without a block',
      start + dataOf({ type: 'content_block_delta', index: 0, delta: {} }),
      'no open block',
    ],
    [
      'ends a block that is not open',
      start + block + dataOf({ type: 'content_block_stop', index: 3 }),
      'no open block',
    ],
    ['ends before its block', start + block + dataOf({ type: 'message_stop' }), 'too early'],
    ['ends before its start', dataOf({ type: 'message_delta', delta: {} }), 'before it starts'],
  ])('fails when it %s', (_, text, message) => {
    const [last, ...before] = readStream(text).toReversed();
    expect(last).toMatchObject({ type: 'error', error: { status: 502, type: 'api_error' } });
    expect(last?.type === 'error' && last.error.message).toContain(message);
    expect(before.some(({ type }) => type === 'error')).toBe(false);
  });

  it('passes an error of the provider on, and nothing after it', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const events = readStream(`${start}${dataOf(error)}${block}`);
    expect(events.slice(1)).toEqual([
      { type: 'error', error: { status: 529, type: 'overloaded_error', message: 'Overloaded' } },
    ]);
  });

  it('is read or fails, whatever it is', () => {
    const value = fc.record(
      {
        type: fc.constantFrom(
          'message_start',
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
          'message_delta',
          'message_stop',
          'error',
        ),
        index: fc.constantFrom(0, 1),
        message: fc.jsonValue(),
        content_block: fc.oneof(
          fc.jsonValue(),
          fc.record({ type: fc.constantFrom('text', 'tool_use', 'thinking') }),
        ),
        delta: fc.jsonValue(),
        usage: fc.jsonValue(),
        error: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    );
    const piece = fc.oneof(value.map(dataOf), fc.string(), fc.constant(start));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const events = readStream(pieces.join(''));
        expect(['end', 'error']).toContain(events.at(-1)?.type);
        expect(typeof writeStream(events)).toBe('string');
      }),
      { numRuns: 400 },
    );
  });
});

describe('an observer of a stream', () => {
  it.each([
    ['with names', STREAM],
    ['without names', STREAM.replaceAll(/^event: .*\n/gm, '')],
  ])('sees what its events say, %s', (_, text) => {
    const observer = anthropicWire.observer();
    for (const event of sseReader({ eventBytesMax: 10_000 }).push(Buffer.from(text)))
      observer.push(event);
    const content = ['Let me solve it', 'Okay, "très" bien 😀', '{"location": "San Francisco"}'];
    expect(observer.seen).toMatchObject({
      id: 'msg_014p7gG3wDgGV9EUtLvnow3U',
      model: 'claude-opus-4-5',
      stop: 'tool_use',
      usage: { ...START_USAGE, outputTokens: 89 },
      error: undefined,
      toolCalls: [{ id: 'toolu_01T1x1fJ34qAmk2tNTrN7Up6', name: 'get_weather' }],
      hasContent: true,
      isComplete: true,
      // As written: escapes are counted.
      contentLength: content.reduce((sum, piece) => sum + JSON.stringify(piece).length - 2, 0),
    });
  });

  it('sees that an event is no JSON, and ignores events that it does not know', () => {
    const observer = anthropicWire.observer();
    observer.push({ event: 'novel', data: 'oops' });
    expect(observer.seen.error).toBeUndefined();
    observer.push({ event: 'message_delta', data: '{oops' });
    expect(observer.seen.error).toMatchObject({ status: 502, code: 'upstream_malformed' });
  });

  it('knows that nothing has come before the first block', () => {
    const observer = anthropicWire.observer();
    const [first] = sseReader({ eventBytesMax: 10_000 }).push(Buffer.from(STREAM));
    if (first !== undefined) observer.push(first);
    expect(observer.seen).toMatchObject({
      hasContent: false,
      isComplete: false,
      usage: START_USAGE,
    });
  });

  it('takes any event', () => {
    const event = fc.constantFrom(
      'message',
      'message_start',
      'content_block_delta',
      'message_delta',
      'error',
    );
    fc.assert(
      fc.property(event, fc.oneof(fc.string(), fc.json()), (name, data) => {
        const observer = anthropicWire.observer();
        observer.push({ event: name, data });
        expect(observer.seen.contentLength).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('what came by another wire', () => {
  const written = (...events: readonly AnswerEvent[]) => {
    const writer = anthropicWire.answerWriter();
    const text = [
      { type: 'start', id: 'x', model: 'm' } as const,
      ...events,
      { type: 'end' } as const,
    ]
      .map((event) => writer.push(event))
      .join('');
    return { events: readStream(text).slice(1, -2), degraded: writer.degraded };
  };

  it('leaves out a block that has no words here, with all its fragments', () => {
    const unknown = { type: 'unknown', wire: 'openai_responses', value: { type: 'x' } } as const;
    const { events, degraded } = written(
      { type: 'block_start', block: unknown },
      { type: 'input', text: '{}' },
      { type: 'block_end' },
      { type: 'block_start', block: { type: 'refusal', text: '' } },
      { type: 'text', text: 'No.' },
      { type: 'block_end' },
    );
    expect(events).toEqual([
      { type: 'block_start', block: { type: 'text', text: '' } },
      { type: 'text', text: 'No.' },
      { type: 'block_end' },
    ]);
    expect(degraded).toEqual(['unknown_blocks', 'refusal']);
  });

  it('shows thoughts without the seal of another provider', () => {
    const seal = { kind: 'encrypted', wire: 'openai_responses', value: 'x' } as const;
    const { events, degraded } = written(
      { type: 'block_start', block: { type: 'thinking', text: '' } },
      { type: 'thinking', text: 'hm' },
      { type: 'seal', seal },
      { type: 'block_end' },
    );
    expect(events).toEqual([
      { type: 'block_start', block: { type: 'thinking', text: '' } },
      { type: 'thinking', text: 'hm' },
      { type: 'block_end' },
    ]);
    expect(degraded).toEqual(['signed_thinking']);
  });

  it('puts the free text of a custom tool into an object', () => {
    const { events } = written(
      {
        type: 'block_start',
        block: { type: 'tool_use', id: 'c', name: 'patch', input: '', isCustom: true },
      },
      { type: 'input', text: '*** "Begin"\n\ud83d' },
      { type: 'input', text: '\ude00' },
      { type: 'block_end' },
    );
    const input = events.flatMap((event) => (event.type === 'input' ? [event.text] : [])).join('');
    expect(JSON.parse(input)).toEqual({ input: '*** "Begin"\n😀' });
  });
});

describe('the official SDK', () => {
  let server: Server;
  let client: Anthropic;
  let answer: { readonly type: string; readonly body: string };

  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume();
      response.setHeader('content-type', answer.type);
      response.end(answer.body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    client = new Anthropic({
      apiKey: 'test',
      baseURL: `http://127.0.0.1:${address.port}`,
      maxRetries: 0,
    });
  });

  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  const params = {
    model: 'claude-opus-4-5',
    max_tokens: 10,
    messages: [{ role: 'user' as const, content: 'Hi.' }],
  };

  it('reads a stream that the writer wrote', async () => {
    answer = { type: 'text/event-stream', body: writeStream(EVENTS) };
    const message = await client.messages.stream(params).finalMessage();
    expect(message).toMatchObject({
      id: 'msg_014p7gG3wDgGV9EUtLvnow3U',
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'Let me solve it', signature: SEAL.value },
        { type: 'text', text: 'Okay, "très" bien 😀' },
        { type: 'tool_use', name: 'get_weather', input: { location: 'San Francisco' } },
      ],
      usage: { input_tokens: 472, output_tokens: 89, cache_read_input_tokens: 7 },
    });
  });

  it('reads an error in a stream', async () => {
    const error = { status: 529, type: 'overloaded_error', message: 'Overloaded' };
    const started = EVENTS.slice(0, 4);
    answer = {
      type: 'text/event-stream',
      body: writeStream([...started, { type: 'error', error }]),
    };
    await expect(client.messages.stream(params).finalMessage()).rejects.toThrow('Overloaded');
  });

  it('reads an answer that the writer wrote', async () => {
    const { value } = anthropicWire.writeAnswer({
      id: 'chatcmpl-1',
      model: 'm',
      blocks: [{ type: 'tool_use', id: 'call_1', name: 'sh', input: '{"a":1}' }],
      stop: 'tool_use',
    });
    answer = { type: 'application/json', body: JSON.stringify(value) };
    const message = await client.messages.create(params);
    expect(message.content).toMatchObject([{ type: 'tool_use', id: 'call_1', input: { a: 1 } }]);
  });
});
