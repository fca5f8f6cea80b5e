import { isFailure, type JsonObject } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { wireFor } from './registry.ts';
import type { WireName } from './shared/form.ts';
import { type SseEvent, sseReader } from './shared/sse.ts';
import { type StreamTranslation, type Translation, translate } from './translate.ts';
import { FIXTURES, PAIRS } from './wires.test-support.ts';

function translated(from: WireName, to: WireName, body: JsonObject): Translation {
  const translation = translate({ from: wireFor(from), to: wireFor(to), body, model: 'other' });
  if (isFailure(translation)) throw new Error(translation.message);
  return translation;
}

function eventsOf(stream: string, cuts: readonly number[] = []): readonly SseEvent[] {
  const bytes = new TextEncoder().encode(stream);
  const reader = sseReader({ eventBytesMax: 1_000_000 });
  const places = [
    0,
    ...cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b),
    bytes.length,
  ];
  return places.slice(1).flatMap((end, index) => reader.push(bytes.subarray(places[index], end)));
}

function sent(stream: StreamTranslation, events: readonly SseEvent[]): string {
  return [...events.map((event) => stream.push(event)), stream.end()].join('');
}

const pretty = (value: unknown) => JSON.stringify(value, undefined, 2);

describe.each(PAIRS)('a client of %s with a provider of %s', (from, to) => {
  it('sends the request, and gets the answer and the stream, as the fixtures have them', async () => {
    const translation = translated(from, to, FIXTURES[from].request);
    const answer = translation.answer(FIXTURES[to].answer, { createdSec: 1_700_000_000 });
    const stream = translation.stream({ createdSec: 1_700_000_000 });
    const text = sent(stream, eventsOf(FIXTURES[to].stream));
    expect(stream.isComplete).toBe(true);
    const golden = [
      `# request, without ${translation.degraded.join(', ')}`,
      pretty(translation.body),
      '# answer',
      pretty(answer),
      `# stream, without ${stream.degraded.join(', ')}`,
      text,
    ];
    await expect(`${golden.join('\n')}\n`).toMatchFileSnapshot(`fixtures/${from}-to-${to}.txt`);
  });

  it('streams the same answer as it gets at once', () => {
    const client = wireFor(from);
    const translation = translated(from, to, FIXTURES[from].request);
    const reader = client.answerReader();
    const stream = eventsOf(sent(translation.stream(), eventsOf(FIXTURES[to].stream)));
    const events = [...stream.flatMap((event) => reader.push(event)), ...reader.end()];
    const answer = translation.answer(FIXTURES[to].answer);
    if (isFailure(answer)) throw new Error(answer.message);
    const read = client.readAnswer(answer.value);
    if (isFailure(read)) throw new Error(read.message);
    const starts = events.filter((event) => event.type === 'block_start');
    expect(starts.map(({ block }) => block.type)).toEqual(read.blocks.map(({ type }) => type));
    expect(events).toContainEqual({ type: 'stop', stop: read.stop });
    const inputs = events.flatMap((event) => (event.type === 'input' ? [event.text] : [])).join('');
    const whole = read.blocks.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []));
    expect(inputs.replaceAll('{}', '')).toBe(whole.join('').replaceAll('{}', ''));
  });

  it('gets the same stream, however the bytes are cut', () => {
    const translation = translated(from, to, FIXTURES[from].request);
    const whole = sent(translation.stream(), eventsOf(FIXTURES[to].stream));
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 20 }), (cuts) => {
        const events = eventsOf(FIXTURES[to].stream, cuts);
        expect(sent(translation.stream(), events)).toBe(whole);
      }),
      { numRuns: 30 },
    );
  });

  it('hears of a stream that breaks off at any event', () => {
    const translation = translated(from, to, FIXTURES[from].request);
    const events = eventsOf(FIXTURES[to].stream);
    for (let count = 0; count < events.length - 2; count += 1) {
      const stream = translation.stream();
      const text = sent(stream, events.slice(0, count));
      if (stream.isComplete) continue;
      expect(stream.error?.status).toBe(502);
      expect(text).toContain('error');
    }
  });
});

describe('a request that another wire can not carry', () => {
  const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
  const responses = { model: 'm', input: 'Hi' };

  test.each([
    ['n', 'openai_chat_completions', { ...chat, n: 2 }],
    ['functions', 'openai_chat_completions', { ...chat, functions: [{ name: 'f' }] }],
    ['previous_response_id', 'openai_responses', { ...responses, previous_response_id: 'resp_0' }],
    ['conversation', 'openai_responses', { ...responses, conversation: 'conv_0' }],
    ['prompt', 'openai_responses', { ...responses, prompt: { id: 'pmpt_0' } }],
    ['background', 'openai_responses', { ...responses, background: true }],
  ] as const)('is refused because of `%s`', (name, from, body) => {
    const result = translate({
      from: wireFor(from),
      to: wireFor('anthropic_messages'),
      body,
      model: 'x',
    });
    expect(result).toMatchObject({ code: 'SUB_WIRE_TRANSLATE' });
    expect(isFailure(result) && result.message).toContain(`\`${name}\``);
  });

  it('passes when the member says nothing', () => {
    expect(
      translated('openai_chat_completions', 'anthropic_messages', { ...chat, n: 1 }).degraded,
    ).toEqual([]);
    const body = { ...responses, previous_response_id: null, background: false };
    expect(translated('openai_responses', 'anthropic_messages', body).degraded).toEqual([]);
  });
});

describe('tools that cross wires', () => {
  const LONG = 'x'.repeat(80);
  const tools = [
    {
      type: 'namespace',
      name: 'mcp__a',
      description: '',
      tools: [{ type: 'function', name: 'read' }],
    },
    {
      type: 'namespace',
      name: 'mcp__b',
      description: '',
      tools: [{ type: 'function', name: 'read' }],
    },
    { type: 'function', name: 'mcp__a__read' },
    { type: 'function', name: LONG },
    { type: 'custom', name: 'apply_patch' },
  ];
  const body = { model: 'm', input: 'Hi', tools };

  function toolNames(translation: Translation): readonly string[] {
    const list = translation.body['tools'];
    if (!Array.isArray(list)) return [];
    return list.map((tool: { readonly function: { readonly name: string } }) => tool.function.name);
  }

  it('get names that the wire takes, each its own, and the same in every turn', () => {
    const names = toolNames(translated('openai_responses', 'openai_chat_completions', body));
    expect(names[0]).toBe('mcp__a__read');
    expect(names[1]).toBe('mcp__b__read');
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(toolNames(translated('openai_responses', 'openai_chat_completions', body))).toEqual(
      names,
    );
  });

  it('come back under the names that the client gave', () => {
    const translation = translated('openai_responses', 'openai_chat_completions', body);
    const calls = toolNames(translation).map((name, index) => ({
      id: `c${index}`,
      type: 'function',
      function: { name, arguments: name === 'apply_patch' ? '{"input":"*** Begin"}' : '{}' },
    }));
    const answer = translation.answer({
      id: 'a',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: calls } }],
    });
    if (isFailure(answer)) throw new Error(answer.message);
    expect(answer.value['output']).toMatchObject([
      { type: 'function_call', call_id: 'c0', namespace: 'mcp__a', name: 'read' },
      { type: 'function_call', call_id: 'c1', namespace: 'mcp__b', name: 'read' },
      { type: 'function_call', call_id: 'c2', name: 'mcp__a__read' },
      { type: 'function_call', call_id: 'c3', name: LONG },
      { type: 'custom_tool_call', call_id: 'c4', name: 'apply_patch', input: '*** Begin' },
    ]);
  });

  it('take free text again out of the JSON of a stream', () => {
    const translation = translated('openai_responses', 'openai_chat_completions', body);
    const piece = (call: JsonObject, finish: string | null = null): SseEvent => ({
      event: 'message',
      data: JSON.stringify({
        id: 'a',
        model: 'm',
        choices: [
          { index: 0, delta: { tool_calls: [{ index: 0, ...call }] }, finish_reason: finish },
        ],
      }),
    });
    const text = sent(translation.stream(), [
      piece({ id: 'c1', type: 'function', function: { name: 'apply_patch', arguments: '{"inp' } }),
      piece({ function: { arguments: 'ut":"a\\n' } }),
      piece({ function: { arguments: 'b"}' } }, 'tool_calls'),
      { event: 'message', data: '[DONE]' },
    ]);
    expect(text).toContain('"type":"response.custom_tool_call_input.done"');
    expect(text).toContain('"input":"a\\nb"');
  });

  it('keep their results beside them', () => {
    const { body: written } = translated('openai_responses', 'anthropic_messages', {
      model: 'm',
      input: [
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: '1' },
        { type: 'message', role: 'user', content: 'Hurry.' },
        { type: 'function_call_output', call_id: 'b', output: '2' },
      ],
    });
    expect(written['messages']).toMatchObject([
      { role: 'assistant', content: [{ id: 'a' }, { id: 'b' }] },
      { role: 'user', content: [{ tool_use_id: 'a' }, { tool_use_id: 'b' }, { text: 'Hurry.' }] },
    ]);
  });
});

test('a chat client that did not ask for tokens gets no chunk without choices', () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true };
  const stream = translated('openai_chat_completions', 'anthropic_messages', body).stream();
  const text = sent(stream, eventsOf(FIXTURES.anthropic_messages.stream));
  expect(text).not.toContain('"choices":[]');
  expect(text).toContain('[DONE]');
});

test('Anthropic gets the limit that it requires', () => {
  const body = { model: 'm', input: 'Hi' };
  expect(translated('openai_responses', 'anthropic_messages', body).body['max_tokens']).toBe(
    32_000,
  );
});

test('a long name of a user stays at home', () => {
  const body = { model: 'm', max_tokens: 1, messages: [], metadata: { user_id: 'u'.repeat(65) } };
  const { body: written } = translated('anthropic_messages', 'openai_responses', body);
  expect(written).not.toHaveProperty('user');
  expect(written['max_output_tokens']).toBe(16);
});
