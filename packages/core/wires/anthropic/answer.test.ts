import { isFailure, type JsonObject } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelAnswer, UpstreamError } from '../shared/form.ts';
import { anthropicWire } from './index.ts';

/** An answer as the documentation of the Messages API shows them, with all that may be in one. */
const ANSWER: JsonObject = {
  id: 'msg_013Zva2CMHLNnjNjJKqJ2EF',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-5',
  content: [
    { type: 'thinking', thinking: 'I should look.', signature: 'EqQBCgIYAhIM' },
    { type: 'text', text: 'Let me look.', citations: null },
    {
      type: 'tool_use',
      id: 'toolu_01D7FLrfh4GYq7yT1ULFeyMV',
      name: 'get_stock_price',
      input: { ticker: '^GSPC' },
      caller: { type: 'direct' },
    },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  stop_details: null,
  container: null,
  usage: {
    input_tokens: 2_095,
    cache_creation_input_tokens: 2_051,
    cache_read_input_tokens: 51,
    cache_creation: { ephemeral_5m_input_tokens: 51, ephemeral_1h_input_tokens: 2_000 },
    output_tokens: 503,
    output_tokens_details: { thinking_tokens: 20 },
    server_tool_use: { web_search_requests: 0 },
    service_tier: 'standard',
  },
};

function readAnswer(body: JsonObject): ModelAnswer {
  const answer = anthropicWire.readAnswer(body);
  if (isFailure(answer)) throw new Error(answer.message);
  return answer;
}

describe('an answer of the Anthropic wire', () => {
  it('comes out as it went in', () => {
    const { value, degraded } = anthropicWire.writeAnswer(readAnswer(ANSWER));
    expect(value).toEqual(ANSWER);
    expect(degraded).toEqual([]);
  });

  it('is read into the form', () => {
    expect(readAnswer(ANSWER)).toMatchObject({
      id: 'msg_013Zva2CMHLNnjNjJKqJ2EF',
      model: 'claude-opus-4-5',
      stop: 'tool_use',
      blocks: [
        { type: 'thinking', seal: { kind: 'signature', value: 'EqQBCgIYAhIM' } },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', name: 'get_stock_price', input: '{"ticker":"^GSPC"}' },
      ],
      usage: {
        inputTokens: 2_095,
        outputTokens: 503,
        cacheReadTokens: 51,
        cacheWriteTokens: 2_051,
        cacheWriteHourTokens: 2_000,
        reasoningTokens: 20,
        isEstimated: false,
      },
    });
  });

  it.each([
    ['end_turn', 'end_turn'],
    ['max_tokens', 'max_tokens'],
    ['stop_sequence', 'stop_sequence'],
    ['tool_use', 'tool_use'],
    ['pause_turn', 'pause'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'context_full'],
    ['compaction', 'end_turn'],
  ])('says why it stopped: %s', (stop_reason, stop) => {
    const body = { ...ANSWER, stop_reason };
    expect(readAnswer(body).stop).toBe(stop);
    expect(anthropicWire.writeAnswer(readAnswer(body)).value).toEqual(body);
  });

  it('keeps a count of tokens that is null', () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 2,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: 0,
    };
    const body = { ...ANSWER, usage };
    expect(anthropicWire.writeAnswer(readAnswer(body)).value).toEqual(body);
  });

  it('shows thoughts that nobody signed, and never sends them to Anthropic', () => {
    const answer: ModelAnswer = {
      id: 'chatcmpl-1',
      model: 'm',
      blocks: [{ type: 'thinking', text: 'hm' }],
      stop: 'end_turn',
    };
    const shown = anthropicWire.writeAnswer(answer).value;
    expect(shown).toMatchObject({
      content: [{ type: 'thinking', thinking: 'hm', signature: '' }],
      usage: { input_tokens: 0, output_tokens: 0 },
    });
    const content = shown['content'] ?? null;
    const request = anthropicWire.readRequest({
      model: 'm',
      messages: [{ role: 'assistant', content }],
    });
    if (isFailure(request)) throw new Error(request.message);
    expect(anthropicWire.writeRequest(request).value['messages']).toEqual([]);
  });

  it.each<[JsonObject]>([
    [{}],
    [{ type: 'message' }],
    [{ type: 'message', content: [1] }],
    [{ type: 'error' }],
  ])('is refused when it is none: %j', (body) => {
    expect(anthropicWire.readAnswer(body)).toMatchObject({ code: 'SUB_WIRE_ANSWER' });
  });
});

describe('an observer of the Anthropic wire', () => {
  it('sees what an answer asks for and costs', () => {
    const observer = anthropicWire.observer();
    observer.whole(ANSWER);
    expect(observer.seen).toMatchObject({
      id: 'msg_013Zva2CMHLNnjNjJKqJ2EF',
      model: 'claude-opus-4-5',
      stop: 'tool_use',
      usage: { inputTokens: 2_095, outputTokens: 503 },
      toolCalls: [{ id: 'toolu_01D7FLrfh4GYq7yT1ULFeyMV', name: 'get_stock_price' }],
      hasContent: true,
      isComplete: true,
      contentLength: 'I should look.'.length + 'Let me look.'.length + '{"ticker":"^GSPC"}'.length,
    });
  });

  it('sees an error', () => {
    const observer = anthropicWire.observer();
    observer.whole({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    expect(observer.seen).toMatchObject({
      error: { status: 529, type: 'overloaded_error', message: 'Overloaded' },
      isComplete: false,
    });
  });
});

describe('an error of the Anthropic wire', () => {
  it.each<[number, string, UpstreamError]>([
    [
      429,
      '{"type":"error","error":{"type":"rate_limit_error","message":"Slow down","details":{"error_code":"ramp"}},"request_id":"req_1"}',
      { status: 429, type: 'rate_limit_error', message: 'Slow down', code: 'ramp' },
    ],
    [
      400,
      '{"error":{"type":"novel_error","message":"x"}}',
      { status: 400, type: 'invalid_request_error', message: 'x' },
    ],
    [
      502,
      '<html>Bad gateway</html>',
      { status: 502, type: 'api_error', message: '<html>Bad gateway</html>' },
    ],
    [529, '', { status: 529, type: 'overloaded_error', message: 'Status 529.' }],
    [404, '[]', { status: 404, type: 'not_found_error', message: '[]' }],
  ])('is read: %i %s', (status, body, error) => {
    expect(anthropicWire.readError(status, body)).toEqual(error);
  });

  it('is bounded and read, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 400, max: 599 }),
        fc.oneof(fc.string(), fc.json()),
        (status, body) => {
          const error = anthropicWire.readError(status, body);
          expect(error.status).toBe(status);
          expect(error.message).not.toBe('');
        },
      ),
    );
    expect(anthropicWire.readError(500, 'x'.repeat(100_000)).message).toHaveLength(4_000);
  });

  it('is written in the shape that clients know', () => {
    const error: UpstreamError = { status: 400, type: 'invalid_request_error', message: 'No.' };
    expect(anthropicWire.writeError(error)).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'No.' },
    });
    expect(anthropicWire.writeErrorEvent(error)).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"No."}}\n\n',
    );
  });
});
