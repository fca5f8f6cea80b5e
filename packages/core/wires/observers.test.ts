import { describe, expect, it } from 'vitest';
import { wireFor } from './registry.ts';
import { sseReader } from './shared/sse.ts';
import { FIXTURES } from './wires.test-support.ts';

const CALLS = [
  { id: 'call_1', name: 'look' },
  { id: 'call_2', name: 'list_files' },
];
const SEEN = {
  openai_chat_completions: {
    id: 'chatcmpl-1',
    model: 'gpt-5.2',
    usage: { inputTokens: 120, outputTokens: 40, cacheReadTokens: 30, reasoningTokens: 8 },
    contentLength: 'Two calls.I look.{"at":"cat"}'.length,
  },
  openai_responses: {
    id: 'resp_1',
    model: 'gpt-5.2-codex',
    usage: { inputTokens: 100, outputTokens: 40, cacheReadTokens: 30, cacheWriteTokens: 20 },
    contentLength: 'Two calls.I look.{}{\\"at\\":\\"cat\\"}'.length,
  },
} as const;

describe.each(['openai_chat_completions', 'openai_responses'] as const)(
  'the observer of %s',
  (name) => {
    const { stream, answer } = FIXTURES[name];
    const facts = {
      ...SEEN[name],
      stop: 'tool_use',
      toolCalls: CALLS,
      hasContent: true,
      isComplete: true,
    };

    it('knows a stream that passed', () => {
      const observer = wireFor(name).observer();
      const bytes = new TextEncoder().encode(stream);
      for (const event of sseReader({ eventBytesMax: 100_000 }).push(bytes)) observer.push(event);
      expect(observer.seen).toMatchObject(facts);
      expect(observer.seen.error).toBeUndefined();
    });

    it('knows an answer that passed at once', () => {
      const observer = wireFor(name).observer();
      observer.whole(answer);
      const { contentLength: _, ...others } = facts;
      expect(observer.seen).toMatchObject(others);
    });

    it('knows when nothing of the answer has come yet', () => {
      const observer = wireFor(name).observer();
      const bytes = new TextEncoder().encode(stream);
      const [first] = sseReader({ eventBytesMax: 100_000 }).push(bytes);
      if (first !== undefined) observer.push(first);
      expect(observer.seen).toMatchObject({ hasContent: false, isComplete: false });
    });

    it('sees an error inside the stream', () => {
      const wire = wireFor(name);
      const observer = wire.observer();
      const error = { status: 502, type: 'api_error', message: 'Overloaded.' };
      const bytes = new TextEncoder().encode(wire.writeErrorEvent(error));
      for (const event of sseReader({ eventBytesMax: 100_000 }).push(bytes)) observer.push(event);
      expect(observer.seen.error).toMatchObject({ message: 'Overloaded.' });
      expect(observer.seen.isComplete).toBe(false);
    });
  },
);
