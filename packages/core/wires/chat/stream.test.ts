// What servers do that speak the chat wire, each in its own way.
import type { JsonObject } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import type { AnswerEvent } from '../shared/form.ts';
import { ChatAnswerReader } from './read-stream.ts';

function read(...lines: readonly (JsonObject | string)[]): readonly AnswerEvent[] {
  const reader = new ChatAnswerReader();
  const events = lines.flatMap((line) =>
    reader.push({ event: 'message', data: typeof line === 'string' ? line : JSON.stringify(line) }),
  );
  return [...events, ...reader.end()];
}

function chunk(delta: JsonObject, finish: string | null = null): JsonObject {
  return { id: 'c-1', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] };
}

function call(fields: JsonObject): JsonObject {
  return chunk({ tool_calls: [fields] });
}

/** The calls of a stream with their arguments. */
function calls(events: readonly AnswerEvent[]): readonly (readonly string[])[] {
  const found: string[][] = [];
  for (const event of events) {
    if (event.type === 'block_start' && event.block.type === 'tool_use') {
      found.push([event.block.id, event.block.name, '']);
    }
    const last = found.at(-1);
    if (event.type === 'input' && last !== undefined) last[2] += event.text;
  }
  return found;
}

describe('a chat stream', () => {
  it('may write its calls at once, in pieces and mixed', () => {
    const events = read(
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }),
      call({ index: 1, id: 'b', function: { name: 'g', arguments: '{"y":' } }),
      call({ index: 0, function: { arguments: '1}' } }),
      call({ index: 1, function: { arguments: '2}' } }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    );
    expect(calls(events)).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'g', '{"y":2}'],
    ]);
  });

  it('may give every call the same index', () => {
    const events = read(
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      call({ index: 0, id: 'b', function: { name: 'g', arguments: '{"y":2}' } }),
      chunk({}, 'stop'),
      '[DONE]',
    );
    expect(calls(events)).toEqual([
      ['a', 'f', '{}'],
      ['b', 'g', '{"y":2}'],
    ]);
    expect(events).toContainEqual({ type: 'stop', stop: 'tool_use' });
  });

  it('may have calls without an index or an id', () => {
    const events = read(
      call({ function: { name: 'f', arguments: '{}' } }),
      call({ function: { name: 'g', arguments: '{}' } }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    );
    expect(calls(events)).toEqual([
      ['call_c1_0', 'f', '{}'],
      ['call_c1_1', 'g', '{}'],
    ]);
  });

  it('may repeat the first arguments as a whole', () => {
    const events = read(
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    );
    expect(calls(events)).toEqual([['a', 'f', '{}']]);
  });

  it('may go on to speak after its calls', () => {
    const events = read(
      chunk({ content: 'One.' }),
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      chunk({ content: 'Two.' }, 'tool_calls'),
      '[DONE]',
    );
    const starts = events.flatMap((event) =>
      event.type === 'block_start' ? [event.block.type] : [],
    );
    expect(starts).toEqual(['text', 'tool_use', 'text']);
  });

  it('may end without [DONE], once it has said why', () => {
    expect(read(chunk({ content: 'Hi' }, 'stop')).at(-1)).toEqual({ type: 'end' });
    expect(read(chunk({ content: 'Hi' })).at(-1)).toMatchObject({ type: 'error' });
  });

  it('may report an error instead of a chunk', () => {
    const error = { error: { message: 'No memory left.', code: 'oom' } };
    expect(read(chunk({ content: 'Hi' }), error).at(-1)).toMatchObject({
      type: 'error',
      error: { status: 502, message: 'No memory left.', code: 'oom' },
    });
  });

  it('ends when it mixes more than can be held back', () => {
    const piece = 'x'.repeat(1_000_000);
    const lines = Array.from({ length: 20 }, () =>
      call({ index: 1, function: { arguments: piece } }),
    );
    const events = read(
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
      call({ index: 1, id: 'b', function: { name: 'g', arguments: '{' } }),
      ...lines,
    );
    expect(events.at(-1)).toMatchObject({ error: { code: 'upstream_malformed' } });
  });
});
