import { isFailure, type JsonObject } from '@subluminal/contracts';
import { describe, expect, it, test } from 'vitest';
import { RESPONSES_REQUEST } from '../fixtures/responses.ts';
import type { ModelRequest } from '../shared/form.ts';
import { readResponsesRequest } from './read-request.ts';
import { writeResponsesRequest } from './write-request.ts';

function read(body: JsonObject): ModelRequest {
  const request = readResponsesRequest(body);
  if (isFailure(request)) throw new Error(request.message);
  return request;
}

describe('a request of the Responses wire', () => {
  it('comes out as it went in', () => {
    const { value, degraded } = writeResponsesRequest(read(RESPONSES_REQUEST));
    expect(value).toEqual(RESPONSES_REQUEST);
    expect(degraded).toEqual([]);
  });

  it('keeps items and members that the form has no word for', () => {
    const body: JsonObject = {
      model: 'm',
      input: [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [
            { type: 'summary_text', text: 'One.' },
            { type: 'summary_text', text: 'Two.' },
          ],
          content: [{ type: 'reasoning_text', text: 'All of it.' }],
        },
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'item_reference', id: 'msg_1' },
        { type: 'message', role: 'user', content: [{ type: 'input_audio', data: 'UklG' }] },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] },
      tools: [{ type: 'mcp', server_label: 'x' }],
      truncation: 'auto',
      reasoning: { effort: 'low', context: 'x' },
    };
    expect(writeResponsesRequest(read(body))).toEqual({ value: body, degraded: [] });
    expect(read(body).messages[0]?.blocks).toMatchObject([
      { type: 'thinking', text: 'One.\n\nTwo.' },
    ]);
  });

  it('may be one text', () => {
    expect(read({ model: 'm', input: 'Hi' }).messages).toEqual([
      { role: 'user', blocks: [{ type: 'text', text: 'Hi' }] },
    ]);
  });

  it('never takes reasoning that another wire made', () => {
    const seal = { kind: 'signature', wire: 'anthropic_messages', value: 'EqQB' } as const;
    const { value, degraded } = writeResponsesRequest({
      ...read({ model: 'm', input: [] }),
      messages: [
        { role: 'assistant', blocks: [{ type: 'thinking', text: 'a', seal }] },
        { role: 'assistant', blocks: [{ type: 'thinking', text: 'b' }] },
      ],
    });
    expect(value['input']).toEqual([]);
    expect(degraded).toEqual(['signed_thinking', 'extended_thinking']);
  });

  test.each([
    [{ input: '' }, '`model` must be a string.'],
    [{ model: 'm' }, '`input` must be a string or a list of items.'],
    [{ model: 'm', input: ['x'] }, '`input[0]` must be an object.'],
    [
      { model: 'm', input: [{ role: 'tool', content: '' }] },
      '`input[0].role` must be user, assistant, system or developer.',
    ],
    [
      { model: 'm', input: [{ type: 'function_call', name: 'f', arguments: '{}' }] },
      '`input[0].call_id` must be a string.',
    ],
    [
      { model: 'm', input: [{ type: 'function_call_output', output: 'x' }] },
      '`input[0].call_id` must be a string.',
    ],
  ])('that breaks the wire is a failure: %j', (body, message) => {
    expect(readResponsesRequest(body)).toMatchObject({ code: 'SUB_WIRE_REQUEST', message });
  });
});
