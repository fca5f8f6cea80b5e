import { isFailure, type JsonObject } from '@subluminal/contracts';
import { describe, expect, it, test } from 'vitest';
import type { ModelRequest } from '../shared/form.ts';
import { readChatRequest } from './read-request.ts';
import { writeChatRequest } from './write-request.ts';

const WIRE = 'openai_chat_completions';

function read(body: JsonObject): ModelRequest {
  const request = readChatRequest(body);
  if (isFailure(request)) throw new Error(request.message);
  return request;
}

/** A conversation with all that the wire has, as its documentation writes it. */
const FULL: JsonObject = {
  model: 'gpt-5.2',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: 'Use metric units.', name: 'ops' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is on these?', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K' } },
        {
          type: 'file',
          file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' },
        },
        { type: 'file', file: { file_id: 'file-1' } },
        { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look.',
      reasoning_content: 'Two images.',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"n":1}' } },
        { id: 'call_2', type: 'custom', custom: { name: 'patch', input: '*** Begin' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'a cat' },
    {
      role: 'tool',
      tool_call_id: 'call_2',
      content: [
        { type: 'text', text: 'done' },
        { type: 'text', text: 'twice' },
      ],
    },
    { role: 'assistant', content: null, refusal: 'I can not.' },
    { role: 'user', content: 'Why?', name: 'ann' },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: 'look',
        description: 'Looks.',
        parameters: { type: 'object' },
        strict: true,
      },
    },
    {
      type: 'custom',
      custom: {
        name: 'patch',
        format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
      },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'look' } },
  parallel_tool_calls: false,
  max_completion_tokens: 100,
  temperature: 0.5,
  top_p: 0.9,
  stop: ['END'],
  reasoning_effort: 'low',
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'animal', schema: { type: 'object' }, strict: true },
  },
  user: 'u-1',
  seed: 7,
};

describe('a chat request', () => {
  it('comes out as it went in', () => {
    const { value, degraded } = writeChatRequest(read(FULL));
    expect(value).toEqual(FULL);
    expect(degraded).toEqual([]);
  });

  it('is read into words of our own', () => {
    const request = read(FULL);
    expect(request.system).toEqual([{ type: 'text', text: 'Be brief.' }]);
    expect(request.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(request.messages[1]?.blocks.map(({ type }) => type)).toEqual([
      'text',
      'image',
      'image',
      'document',
      'document',
      'unknown',
    ]);
    expect(request.messages[2]?.blocks).toEqual([
      { type: 'thinking', text: 'Two images.' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', name: 'look', input: '{"n":1}' },
      { type: 'tool_use', id: 'call_2', name: 'patch', input: '*** Begin', isCustom: true },
    ]);
    expect(request.rest).toEqual({ wire: WIRE, members: { seed: 7 } });
  });

  it('asks for the tokens of a stream, whatever the client said', () => {
    const body = { model: 'm', messages: [], stream: true };
    const options = { include_usage: false, include_obfuscation: false };
    const { value } = writeChatRequest(read({ ...body, stream_options: options }));
    expect(value['stream_options']).toEqual({ include_usage: true, include_obfuscation: false });
    expect(writeChatRequest(read(body)).value['stream_options']).toEqual({ include_usage: true });
  });

  it('keeps the older name of the limit', () => {
    const body = { model: 'm', messages: [], max_tokens: 5 };
    expect(read(body).maxTokens).toBe(5);
    expect(writeChatRequest(read(body)).value).toEqual(body);
  });

  it('carries images of a tool result in the message that follows', () => {
    const image = { kind: 'base64', mediaType: 'image/png', data: 'AA==' } as const;
    const { value } = writeChatRequest({
      ...read({ model: 'm', messages: [] }),
      messages: [
        {
          role: 'user',
          blocks: [
            {
              type: 'tool_result',
              toolUseId: 'c1',
              isError: false,
              blocks: [{ type: 'image', source: image }],
            },
          ],
        },
      ],
    });
    expect(value['messages']).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the result of c1:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
    ]);
  });

  test.each([
    [{ messages: [] }, '`model` must be a string.'],
    [{ model: 'm' }, '`messages` must be a list.'],
    [{ model: 'm', messages: [1] }, '`messages[0]` must be an object.'],
    [
      { model: 'm', messages: [{ role: 'function', name: 'f', content: '' }] },
      '`messages[0].role` must be system, developer, user, assistant or tool.',
    ],
    [
      { model: 'm', messages: [{ role: 'user', content: 5 }] },
      '`messages[0].content` must be a string or a list of parts.',
    ],
    [
      { model: 'm', messages: [{ role: 'tool', content: 'x' }] },
      '`messages[0].tool_call_id` must be a string.',
    ],
  ])('that breaks the wire is a failure: %j', (body, message) => {
    expect(readChatRequest(body)).toMatchObject({ code: 'SUB_WIRE_REQUEST', message });
  });
});
