import { isFailure, isJsonObject, type JsonObject } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block, ModelRequest } from '../shared/form.ts';
import { anthropicWire } from './index.ts';

function readRequest(body: JsonObject): ModelRequest {
  const request = anthropicWire.readRequest(body);
  if (isFailure(request)) throw new Error(request.message);
  return request;
}

function writtenRequest(request: ModelRequest): JsonObject {
  return anthropicWire.writeRequest(request).value;
}

/** A request with what Claude Code and the documentation put into one. */
const BODY: JsonObject = {
  model: 'claude-opus-4-5',
  max_tokens: 64_000,
  system: [
    { type: 'text', text: 'You are Claude Code.' },
    {
      type: 'text',
      text: 'Rules.',
      cache_control: { type: 'ephemeral', ttl: '1h', scope: 'global' },
    },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is on these?', cache_control: { type: 'ephemeral' } },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        { type: 'image', source: { type: 'file', file_id: 'file_1' } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
          title: 'A page',
          context: 'From the archive.',
          citations: { enabled: true },
        },
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'Grass is green.' },
        },
        { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
        { type: 'document', source: { type: 'file', file_id: 'file_2' } },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
        { type: 'search_result', source: 'x', title: 'y', content: [{ type: 'text', text: 'z' }] },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me see.', signature: 'EqQBCg==' },
        { type: 'redacted_thinking', data: 'EmwKAhgB' },
        {
          type: 'text',
          text: 'Grass.',
          citations: [{ type: 'char_location', cited_text: 'Grass' }],
        },
        {
          type: 'server_tool_use',
          id: 'srvtoolu_1',
          name: 'web_search',
          input: { query: 'grass' },
        },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [
            { type: 'web_search_result', url: 'https://x.test', encrypted_content: 'Eo8=' },
          ],
        },
        {
          type: 'tool_use',
          id: 'toolu_1',
          name: 'Bash',
          input: { cmd: 'ls', n: 1.5 },
          caller: { type: 'direct' },
        },
        { type: 'tool_use', id: 'toolu_2', name: 'Bash', input: {} },
      ],
    },
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'text', text: 'a.ts' }],
          is_error: false,
        },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_2',
          is_error: true,
          cache_control: { type: 'ephemeral' },
        },
        { type: 'tool_result', tool_use_id: 'toolu_3', content: '' },
      ],
    },
  ],
  tools: [
    {
      name: 'Bash',
      description: 'Runs a command.',
      input_schema: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
      strict: true,
      cache_control: { type: 'ephemeral' },
      defer_loading: false,
    },
    {
      type: 'custom',
      name: 'Plain',
      input_schema: { type: 'object' },
      eager_input_streaming: null,
    },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
    { type: 'bash_20250124', name: 'bash' },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 10_000, display: 'summarized' },
  output_config: {
    effort: 'high',
    format: { type: 'json_schema', schema: { type: 'object' } },
    task_budget: { total: 5 },
  },
  metadata: { user_id: '{"device_id":"1"}', tag: 'x' },
  stop_sequences: ['END'],
  temperature: 0.5,
  top_p: 0.9,
  top_k: 40,
  stream: true,
  context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
  service_tier: 'auto',
  container: null,
};

describe('a request of the Anthropic wire', () => {
  it('comes out as it went in', () => {
    const { value, degraded } = anthropicWire.writeRequest(readRequest(BODY));
    expect(value).toEqual(BODY);
    expect(degraded).toEqual([]);
  });

  it('is read into the form', () => {
    const request = readRequest(BODY);
    expect(request).toMatchObject({
      model: 'claude-opus-4-5',
      maxTokens: 64_000,
      isStream: true,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stopSequences: ['END'],
      toolChoice: { kind: 'auto' },
      hasParallelTools: false,
      reasoning: { mode: 'budget', budgetTokens: 10_000, summary: 'summarized', effort: 'high' },
      output: { kind: 'schema', schema: { type: 'object' } },
      user: '{"device_id":"1"}',
    });
    expect(request.rest?.members).toEqual({
      context_management: BODY['context_management'],
      service_tier: 'auto',
      container: null,
      metadata: { tag: 'x' },
      output_config: { task_budget: { total: 5 } },
    });
    expect(request.system[1]).toEqual({
      type: 'text',
      text: 'Rules.',
      cache: { ttl: '1h' },
      rest: { wire: 'anthropic_messages', members: { cache_control: { scope: 'global' } } },
    });
    expect(request.tools.map(({ kind }) => kind)).toEqual([
      'function',
      'function',
      'hosted',
      'hosted',
    ]);
    const kinds = request.messages.map(({ role, blocks }) => [
      role,
      ...blocks.map(({ type }) => type),
    ]);
    expect(kinds).toEqual([
      [
        'user',
        'text',
        'image',
        'image',
        'image',
        'document',
        'document',
        'document',
        'document',
        'unknown',
        'unknown',
      ],
      ['assistant', 'thinking', 'thinking', 'text', 'unknown', 'unknown', 'tool_use', 'tool_use'],
      ['system', 'text'],
      ['user', 'tool_result', 'tool_result', 'tool_result'],
    ]);
  });

  it.each<[string, JsonObject, Partial<ModelRequest>]>([
    [
      'thinking that the model doses',
      { thinking: { type: 'adaptive' } },
      { reasoning: { mode: 'adaptive' } },
    ],
    ['thinking that is off', { thinking: { type: 'disabled' } }, { reasoning: { mode: 'off' } }],
    ['thinking of a new kind', { thinking: { type: 'between_tools' } }, {}],
    ['effort alone', { output_config: { effort: 'max' } }, { reasoning: { effort: 'max' } }],
    ['any tool', { tool_choice: { type: 'any' } }, { toolChoice: { kind: 'any' } }],
    ['no tool', { tool_choice: { type: 'none' } }, { toolChoice: { kind: 'none' } }],
    [
      'one tool',
      { tool_choice: { type: 'tool', name: 'a', disable_parallel_tool_use: false } },
      { toolChoice: { kind: 'tool', name: 'a' }, hasParallelTools: true },
    ],
    ['no stream', { stream: false }, { isStream: false }],
    ['empty lists', { tools: [], stop_sequences: [], system: [], metadata: {} }, {}],
    [
      'nulls',
      { system: null, tools: null, thinking: null, output_config: { effort: null, format: null } },
      {},
    ],
  ])('keeps %s', (_, members, form) => {
    const body: JsonObject = { model: 'm', messages: [], ...members };
    const request = readRequest(body);
    expect(request).toMatchObject(form);
    expect(writtenRequest(request)).toEqual(body);
  });

  it('takes a text for a list of one block', () => {
    const body = { model: 'm', system: 'Rules.', messages: [{ role: 'user', content: 'Hi.' }] };
    expect(writtenRequest(readRequest(body))).toEqual({
      model: 'm',
      system: [{ type: 'text', text: 'Rules.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }],
    });
  });

  it.each<[JsonObject, string]>([
    [{ messages: [] }, '`model`'],
    [{ model: 'm' }, '`messages`'],
    [{ model: 'm', messages: [1] }, '`messages[0]`'],
    [{ model: 'm', messages: [{ role: 'tool', content: '' }] }, '`messages[0].role`'],
    [{ model: 'm', messages: [{ role: 'user' }] }, '`messages[0].content`'],
    [{ model: 'm', messages: [{ role: 'user', content: [1] }] }, '`messages[0].content[0]`'],
    [{ model: 'm', messages: [], system: 1 }, '`system`'],
    [{ model: 'm', messages: [], tools: ['a'] }, '`tools[0]`'],
    [{ model: 'm', messages: [], tool_choice: { type: 'tool' } }, '`tool_choice.name`'],
  ])('is refused with its place: %j', (body, place) => {
    const failure = anthropicWire.readRequest(body);
    expect(failure).toMatchObject({ code: 'SUB_WIRE_REQUEST' });
    expect(isFailure(failure) && failure.message).toContain(place);
  });
});

const WORDS = fc.string({ maxLength: 6 });
const EXTRA = fc.option(
  fc.record({ x_new: fc.jsonValue({ maxDepth: 2 }), x_null: fc.constant(null) }),
  { nil: {} },
);
const CACHE = fc.option(
  fc.record({
    cache_control: fc.constantFrom(
      { type: 'ephemeral' },
      { type: 'ephemeral', ttl: '5m' },
      { type: 'other' },
    ),
  }),
  { nil: {} },
);

function objectOf(shape: {
  readonly [name: string]: fc.Arbitrary<unknown>;
}): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(fc.record(shape), EXTRA, CACHE)
    .map(([own, extra, cache]) => asJson({ ...extra, ...cache, ...own }));
}

const SOURCE = fc.oneof(
  fc.record({ type: fc.constant('base64'), media_type: fc.constant('image/png'), data: WORDS }),
  fc.record({ type: fc.constant('url'), url: WORDS }),
  fc.record({ type: fc.constant('file'), file_id: WORDS }),
);
const SIMPLE = fc.oneof(
  objectOf({ type: fc.constant('text'), text: WORDS }),
  objectOf({ type: fc.constant('image'), source: SOURCE }),
  objectOf({ type: fc.constant('document'), source: SOURCE, title: WORDS }),
  objectOf({ type: fc.constant('novel'), anything: fc.jsonValue({ maxDepth: 2 }) }),
);
const ID = fc.stringMatching(/^[\w-]{1,8}$/);
const BLOCK = fc.oneof(
  SIMPLE,
  objectOf({
    type: fc.constant('tool_use'),
    id: ID,
    name: WORDS,
    input: fc.dictionary(WORDS, fc.jsonValue({ maxDepth: 2 })),
  }),
  objectOf({
    type: fc.constant('tool_result'),
    tool_use_id: ID,
    content: fc.array(SIMPLE, { maxLength: 2 }),
    is_error: fc.boolean(),
  }),
  objectOf({
    type: fc.constant('thinking'),
    thinking: WORDS,
    signature: fc.string({ minLength: 1, maxLength: 4 }),
  }),
  objectOf({ type: fc.constant('redacted_thinking'), data: WORDS }),
);
const REQUEST = fc
  .tuple(
    fc.record(
      {
        model: WORDS,
        messages: fc.array(
          fc.record({
            role: fc.constantFrom('user', 'assistant', 'system'),
            content: fc.array(BLOCK, { maxLength: 4 }),
          }),
          { maxLength: 4 },
        ),
        system: fc.array(objectOf({ type: fc.constant('text'), text: WORDS }), { maxLength: 2 }),
        tools: fc.array(
          objectOf({
            name: WORDS,
            input_schema: fc.record({ type: fc.constant('object'), title: WORDS }),
            strict: fc.boolean(),
          }),
          { maxLength: 3 },
        ),
        max_tokens: fc.nat(),
        stream: fc.boolean(),
        thinking: fc.constantFrom(
          { type: 'adaptive' },
          { type: 'disabled' },
          { type: 'enabled', budget_tokens: 3 },
        ),
        output_config: fc.constantFrom({ effort: 'low' }, { effort: 'odd' }, {}),
        tool_choice: fc.constantFrom(
          { type: 'any' },
          { type: 'auto', disable_parallel_tool_use: true },
          { type: 'odd' },
        ),
      },
      { requiredKeys: ['model', 'messages'] },
    ),
    EXTRA,
  )
  .map(([own, extra]) => asJson({ ...extra, ...own }));

describe('every request of the Anthropic wire', () => {
  it('comes out as it went in', () => {
    fc.assert(
      fc.property(REQUEST, (body) => {
        const { value, degraded } = anthropicWire.writeRequest(readRequest(body));
        expect(value).toEqual(body);
        expect(degraded).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('is read or refused, whatever it is', () => {
    const anything = fc.dictionary(
      fc.constantFrom(
        'model',
        'messages',
        'system',
        'tools',
        'tool_choice',
        'thinking',
        'output_config',
        '__proto__',
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.array(fc.record({ role: fc.constant('user'), content: fc.jsonValue() })),
      ),
    );
    fc.assert(
      fc.property(anything, (value) => {
        const body = asJson(value);
        const request = anthropicWire.readRequest(body);
        expect(isFailure(request) || isJsonObject(writtenRequest(request))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('what came by another wire', () => {
  const request = (blocks: readonly Block[], more: Partial<ModelRequest> = {}): ModelRequest => ({
    model: 'm',
    system: [],
    messages: [{ role: 'user', blocks }],
    tools: [],
    stopSequences: [],
    isStream: false,
    ...more,
  });
  const seal = { kind: 'encrypted', wire: 'openai_responses', value: 'x' } as const;
  const rest = { wire: 'openai_responses', members: { status: 'completed' } } as const;

  it.each<[string, readonly Block[], readonly JsonObject[], readonly string[]]>([
    ['sealed thinking', [{ type: 'thinking', text: 'a', seal }], [], ['signed_thinking']],
    ['thinking that nobody signed', [{ type: 'thinking', text: 'a' }], [], ['extended_thinking']],
    ['a refusal', [{ type: 'refusal', text: 'No.' }], [{ type: 'text', text: 'No.' }], ['refusal']],
    [
      'a file of another provider',
      [{ type: 'image', source: { kind: 'file', wire: 'openai_responses', id: 'f' } }],
      [],
      ['files'],
    ],
    [
      'an unknown block',
      [{ type: 'unknown', wire: 'openai_responses', value: {} }],
      [],
      ['unknown_blocks'],
    ],
    [
      'an unknown member',
      [{ type: 'text', text: 'a', rest }],
      [{ type: 'text', text: 'a' }],
      ['unknown_fields'],
    ],
    [
      'arguments that are empty',
      [{ type: 'tool_use', id: 'c', name: 'n', input: '' }],
      [{ type: 'tool_use', id: 'c', name: 'n', input: {} }],
      [],
    ],
    [
      'arguments that are no JSON',
      [{ type: 'tool_use', id: 'c', name: 'n', input: 'ls' }],
      [{ type: 'tool_use', id: 'c', name: 'n', input: { input: 'ls' } }],
      [],
    ],
    [
      'a custom tool',
      [{ type: 'tool_use', id: 'c', name: 'n', input: '{}', isCustom: true }],
      [{ type: 'tool_use', id: 'c', name: 'n', input: { input: '{}' } }],
      ['custom_tools'],
    ],
    [
      'an id with a dot',
      [{ type: 'tool_result', toolUseId: 'a.b:0', blocks: [], isError: true }],
      [{ type: 'tool_result', tool_use_id: 'a_b_0', is_error: true }],
      [],
    ],
  ])('%s is written or named', (_, blocks, content, degraded) => {
    const text: Block = { type: 'text', text: 'Hi.' };
    const written = anthropicWire.writeRequest(request([text, ...blocks]));
    expect(written.value['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi.' }, ...content] },
    ]);
    expect(written.degraded).toEqual(degraded);
  });

  it('drops a message of which nothing is left', () => {
    const { value } = anthropicWire.writeRequest(request([{ type: 'thinking', text: 'a' }]));
    expect(value['messages']).toEqual([]);
  });

  it.each<[string, Partial<ModelRequest>, JsonObject, readonly string[]]>([
    [
      'the least effort',
      { reasoning: { effort: 'minimal' } },
      { output_config: { effort: 'low' } },
      ['reasoning_effort'],
    ],
    ['no effort', { reasoning: { effort: 'none' } }, { thinking: { type: 'disabled' } }, []],
    ['JSON of any form', { output: { kind: 'json' } }, {}, ['output_format']],
    ['a high temperature', { temperature: 1.7 }, { temperature: 1 }, []],
    ['one call at a time without tools', { hasParallelTools: false }, {}, []],
    [
      'a hosted tool',
      { tools: [{ kind: 'hosted', wire: 'openai_responses', value: {} }] },
      {},
      ['hosted_tools'],
    ],
    [
      'a tool for free text, one at a time',
      { tools: [{ kind: 'custom', name: 'patch', namespace: 'x' }], hasParallelTools: false },
      {
        tools: [
          {
            name: 'patch',
            input_schema: {
              type: 'object',
              properties: { input: { type: 'string' } },
              required: ['input'],
              additionalProperties: false,
            },
          },
        ],
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      },
      ['tool_namespaces', 'custom_tools'],
    ],
  ])('%s is written or named', (_, more, members, degraded) => {
    const written = anthropicWire.writeRequest(request([], more));
    expect(written.value).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: [] }],
      ...members,
    });
    expect(written.degraded).toEqual(degraded);
  });
});

function asJson(value: unknown): JsonObject {
  const parsed: unknown = JSON.parse(JSON.stringify(value));
  if (!isJsonObject(parsed)) throw new Error('no object');
  return parsed;
}
