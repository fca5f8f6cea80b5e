import { isUtf8 } from 'node:buffer';
import { isFailure } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ByteTools, outlineRequest, type RequestOutline } from './outline.ts';
import { partTexts } from './part-texts.ts';
import type { WireName } from './shared/form.ts';

const WIRES: readonly WireName[] = [
  'anthropic_messages',
  'openai_chat_completions',
  'openai_responses',
];

const TOOLS: ByteTools = {
  isUtf8,
  latin1: (bytes) => Buffer.from(bytes).toString('latin1'),
  isEqual: (one, other) => Buffer.from(one).equals(other),
};

function outlineOf(wire: WireName, body: unknown): RequestOutline {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const outline = outlineRequest(wire, Buffer.from(text), TOOLS);
  if (isFailure(outline)) throw new Error(outline.message);
  return outline;
}

function faultOf(wire: WireName, body: string | Uint8Array): string {
  const outline = outlineRequest(wire, typeof body === 'string' ? Buffer.from(body) : body);
  return isFailure(outline) ? `${outline.code} ${outline.message}` : 'read';
}

/** The texts of all parts, each as `role: text`. */
function textsOf(wire: WireName, body: unknown): readonly string[] {
  const bytes = Buffer.from(JSON.stringify(body));
  return outlineOf(wire, body).parts.flatMap((part) => {
    const texts = partTexts(bytes, part);
    if (isFailure(texts)) throw new Error(texts.message);
    return texts.map(({ role, range, form }) => {
      const text: unknown = JSON.parse(bytes.subarray(range.start, range.end).toString());
      const shown = typeof text === 'string' ? text : JSON.stringify(text);
      return `${role}${form === 'text' ? '' : ` (${form})`}: ${shown}`;
    });
  });
}

const ANTHROPIC = {
  model: 'claude-sonnet-4-5',
  max_tokens: 64_000,
  system: [
    { type: 'text', text: 'You are helpful.' },
    { type: 'text', text: 'Ünïcode', cache_control: { type: 'ephemeral' } },
  ],
  tools: [
    { name: 'Bash', description: 'Runs "it".', input_schema: { type: 'object' } },
    { type: 'web_search_20250305', name: 'web_search' },
  ],
  messages: [
    { role: 'user', content: 'Fix it.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { cmd: ['ls', { deep: 'x' }] } },
      ],
    },
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'a.ts' }] },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
        { type: 'document', source: { type: 'text', data: 'A page.', media_type: 'text/plain' } },
        { type: 'novel_block', deep: [{ hidden: 'seen' }] },
      ],
    },
  ],
  metadata: { user_id: 'u' },
  stream: true,
};

const CHAT = {
  model: 'gpt-5',
  stream: false,
  max_tokens: 5,
  max_completion_tokens: 100,
  messages: [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
        { type: 'image_url', image_url: { url: 'https://x.test/?key=1' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'sh', arguments: '{"a":"b"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'done' },
  ],
  tools: [
    { type: 'function', function: { name: 'sh', description: 'Runs.', parameters: {} } },
    { type: 'custom', custom: { name: 'patch' } },
  ],
};

const RESPONSES = {
  model: 'gpt-5-codex',
  instructions: 'You are Codex.',
  max_output_tokens: 7,
  stream: true,
  tools: [
    { type: 'function', name: 'shell', parameters: {} },
    { type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'read' }] },
    { type: 'web_search' },
  ],
  input: [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go.' }] },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'x' },
    { type: 'function_call', call_id: 'c', name: 'shell', arguments: '{"cmd":"ls"}' },
    { type: 'function_call_output', call_id: 'c', output: 'a.ts' },
    { type: 'custom_tool_call', call_id: 'd', name: 'patch', input: '*** Begin' },
    { type: 'custom_tool_call_output', call_id: 'd', output: [{ type: 'input_text', text: 'ok' }] },
  ],
};

describe('outlineRequest', () => {
  it.each([
    ['anthropic_messages', ANTHROPIC, ['Bash', 'web_search'], true, 64_000, [2, 2, 4]],
    ['openai_chat_completions', CHAT, ['sh', 'patch'], false, 100, [0, 2, 4]],
    ['openai_responses', RESPONSES, ['shell', 'mcp.read', 'web_search'], true, 7, [1, 3, 6]],
  ] as const)('finds the parts of %s', (wire, body, toolNames, isStream, maxTokens, counts) => {
    const outline = outlineOf(wire, body);
    expect(outline).toMatchObject({ wire, model: body.model, isStream, maxTokens, toolNames });
    expect(outline.isContinuation).toBe(true);
    const count = (kind: string) => outline.parts.filter((part) => part.kind === kind).length;
    expect(['system', 'tool', 'message'].map(count)).toEqual(counts);
    const bytes = Buffer.from(JSON.stringify(body));
    const { start, end } = outline.modelRange;
    expect(bytes.subarray(start, end).toString()).toBe(JSON.stringify(body.model));
  });

  it('gives the same with and without the tools of a platform', () => {
    const bytes = Buffer.from(JSON.stringify(ANTHROPIC));
    expect(outlineRequest('anthropic_messages', bytes)).toEqual(
      outlineRequest('anthropic_messages', bytes, TOOLS),
    );
  });

  it.each<[string, WireName, object, boolean]>([
    ['the user has spoken last', 'anthropic_messages', { messages: [user('a')] }, false],
    [
      'a system message follows',
      'anthropic_messages',
      { messages: [user('a'), { role: 'system', content: 'b' }] },
      false,
    ],
    ['the input is a text', 'openai_responses', { input: 'hello' }, false],
    [
      'the user answers a tool',
      'openai_chat_completions',
      { messages: [{ role: 'tool', content: 'a' }, user('b')] },
      false,
    ],
    [
      'an old function answers',
      'openai_chat_completions',
      { messages: [user('b'), { role: 'function', content: 'a' }] },
      true,
    ],
    ['there is no message', 'openai_chat_completions', {}, false],
  ])('knows whether the agent is in its loop when %s', (_, wire, body, isContinuation) => {
    expect(outlineOf(wire, { model: 'm', ...body }).isContinuation).toBe(isContinuation);
  });

  it.each([
    ['no object', '[]', 'not a JSON object'],
    ['nothing', '', 'not a JSON object'],
    ['no model', '{"stream":true}', 'no "model"'],
    ['a model that is no name', '{"model":7}', '"model" is not a name'],
    ['a second model', '{"model":"a","x":1,"model":"b"}', 'a key twice'],
    ['a second model with an escape', '{"model":"a","mod\\u0065l":"b"}', 'a key twice'],
    ['a second model for readers that ignore case', '{"model":"a","Model":"b"}', 'a key twice'],
    ['a second stream for Go', '{"model":"a","\u017Ftream":true}', 'misspelt "stream"'],
    ['an unknown key twice', '{"model":"a","x":1,"X":2}', 'a key twice'],
    ['a tool with two names', '{"model":"a","tools":[{"name":"a","name":"b"}]}', 'a key twice'],
    [
      'a last message with two contents',
      '{"model":"a","messages":[{"role":"user","content":[],"content":""}]}',
      'a key twice',
    ],
    ['a stream that is no boolean', '{"model":"a","stream":"yes"}', 'not a boolean'],
    ['a bound that is no number', '{"model":"a","max_tokens":-1}', 'not a whole number'],
    ['messages that are no list', '{"model":"a","messages":5}', 'not a list'],
    ['a message that is a number', '{"model":"a","messages":[5]}', 'no object'],
    ['something behind the end', '{"model":"a"} {}', 'follows its end'],
    ['a string without an end', '{"model":"a","x":"b', 'not valid JSON'],
    ['brackets that do not match', '{"model":"a","messages":[{"x":[}]}]}', 'not valid JSON'],
    ['a comma too many', '{"model":"a","messages":[{},]}', 'no object'],
    ['a number that is none', '{"model":"a","x":01}', 'not valid JSON'],
    ['a key without a value', '{"model"}', 'not valid JSON'],
    ['an escape that is none', '{"model":"\\x"}', 'not valid JSON'],
    ['great depth', `{"model":"a","x":${'['.repeat(100_000)}`, 'levels deep'],
    ['many parts', `{"model":"a","messages":[${'{},'.repeat(100_001)}{}]}`, 'parts'],
    [
      'many keys',
      `{"model":"a"${Array.from({ length: 2_000 }, (_, at) => `,"k${at}":1`).join('')}}`,
      'keys',
    ],
  ])('refuses %s', (_, body, fault) => {
    expect(faultOf('anthropic_messages', body)).toMatch(/^SUB_WIRE_REQUEST /);
    expect(faultOf('anthropic_messages', body)).toContain(fault);
  });

  it('refuses bytes that are not UTF-8', () => {
    const body = Buffer.from('{"model":"a","x":"\xff"}', 'latin1');
    expect(faultOf('anthropic_messages', body)).toContain('not valid UTF-8');
  });

  it('takes any bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.json().map((text) => new Uint8Array(Buffer.from(text))),
      fc
        .tuple(fc.constantFrom(ANTHROPIC, CHAT, RESPONSES), fc.nat(), fc.nat(255))
        .map(([body, at, byte]) => {
          const written = new Uint8Array(Buffer.from(JSON.stringify(body)));
          written[at % written.length] = byte;
          return written;
        }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...WIRES), bytes, (wire, body) => {
        const outline = outlineRequest(wire, body, TOOLS);
        if (isFailure(outline)) return;
        for (const part of outline.parts) partTexts(body, part);
      }),
      { numRuns: 500 },
    );
  });

  it('takes nothing for JSON that is none', () => {
    const written = JSON.stringify({
      model: 'm',
      system: [{ type: 'text', text: 'Hi.' }],
      messages: [{ role: 'user', content: [{ a: [1, -2.5e3, true, null, {}, []], b: 'c' }] }],
      x: { y: [[], { z: 'w' }] },
    });
    const changed = fc
      .tuple(fc.nat(written.length - 1), fc.constantFrom(...'{}[],:"1 -.e', ''), fc.nat(1))
      .map(([at, piece, taken]) => written.slice(0, at) + piece + written.slice(at + taken));
    fc.assert(
      fc.property(changed, (text) => {
        const isOutlined = faultOf('anthropic_messages', text) === 'read';
        expect(isOutlined && !isValidJson(text)).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });

  it('finds every part that JSON.parse finds', () => {
    const message = fc.record({ role: fc.constant('user'), content: fc.json() });
    fc.assert(
      fc.property(fc.array(message), fc.integer({ min: 0, max: 3 }), (messages, indent) => {
        const text = JSON.stringify({ messages, model: 'm' }, undefined, indent);
        const bytes = Buffer.from(text);
        const found = outlineOf('anthropic_messages', text).parts.map(({ range }): unknown =>
          JSON.parse(bytes.subarray(range.start, range.end).toString()),
        );
        expect(found).toEqual(messages);
      }),
    );
  });
});

describe('members that stand beside the conversation', () => {
  const withMember = (member: object) => ({ model: 'm', ...member });
  it.each<[WireName, object, readonly string[]]>([
    ['anthropic_messages', { mcp_servers: [{ name: 'x' }] }, ['[{"name":"x"}]']],
    ['anthropic_messages', { container: { skills: [] } }, ['{"skills":[]}']],
    ['anthropic_messages', { output_config: { effort: 'low' } }, ['{"effort":"low"}']],
    [
      'anthropic_messages',
      { metadata: { user_id: 'u', note: 'x' } },
      ['{"user_id":"u","note":"x"}'],
    ],
    ['anthropic_messages', { metadata: { user_id: { deep: 'x' } } }, ['{"user_id":{"deep":"x"}}']],
    ['anthropic_messages', { metadata: 'x' }, ['x']],
    ['anthropic_messages', { metadata: { user_id: '{"session_id":"x"}' } }, []],
    ['anthropic_messages', { thinking: { type: 'adaptive' }, tool_choice: { type: 'auto' } }, []],
    ['openai_chat_completions', { metadata: { a: 'b' } }, ['{"a":"b"}']],
    ['openai_chat_completions', { stop: ['x'], user: 'u', verbosity: 'low' }, ['["x"]']],
    ['openai_responses', { client_metadata: { a: 'b' } }, ['{"a":"b"}']],
    ['openai_responses', { reasoning: { effort: 'low' }, include: ['x'], store: false }, []],
    ['openai_responses', { from_tomorrow: 'words', count: 3, is_new: true, none: null }, ['words']],
  ])('are searched on %s unless they are of the protocol: %j', (wire, member, expected) => {
    expect(textsOf(wire, withMember(member))).toEqual(
      expected.map((text) => (/^[[{]/.test(text) ? `other (json): ${text}` : `other: ${text}`)),
    );
  });

  it('must not differ from a member of the protocol only by case', () => {
    expect(faultOf('anthropic_messages', '{"model":"m","Metadata":"x"}')).toContain('misspelt');
  });
});

describe('partTexts', () => {
  it('finds the texts of Anthropic Messages', () => {
    expect(textsOf('anthropic_messages', ANTHROPIC)).toEqual([
      'system: You are helpful.',
      'system: Ünïcode',
      'tool_definition: Runs "it".',
      'tool_definition: object',
      'tool_definition: web_search_20250305',
      'user: Fix it.',
      'assistant: Let me look.',
      'tool_use (json): {"cmd":["ls",{"deep":"x"}]}',
      'system: Be brief.',
      'tool_result: a.ts',
      'user: A page.',
      'user: seen',
    ]);
  });

  it('finds the texts of Chat Completions', () => {
    expect(textsOf('openai_chat_completions', CHAT)).toEqual([
      'system: Be brief.',
      'user: Look.',
      'user: https://x.test/?key=1',
      'tool_use (json_text): {"a":"b"}',
      'tool_result: done',
      'tool_definition: sh',
      'tool_definition: Runs.',
      'tool_definition: patch',
    ]);
  });

  it('finds the texts of Responses', () => {
    expect(textsOf('openai_responses', RESPONSES)).toEqual([
      'system: You are Codex.',
      'tool_definition: function',
      'tool_definition: read',
      'user: Go.',
      'tool_use (json_text): {"cmd":"ls"}',
      'tool_result: function_call_output',
      'tool_result: a.ts',
      'tool_use: *** Begin',
      'tool_result: custom_tool_call_output',
      'tool_result: ok',
    ]);
  });

  it('finds a text however deep it stands', () => {
    const deep = `${'{"a":['.repeat(200)}"found"${']}'.repeat(200)}`;
    const content: unknown = JSON.parse(deep);
    const body = { model: 'm', messages: [{ role: 'user', content: [content] }] };
    expect(textsOf('anthropic_messages', body)).toEqual([expect.stringMatching(/^user .*found/)]);
  });

  it.each([
    ['very many texts', `{"content":[${'"a",'.repeat(100_001)}"b"]}`],
    ['an escape that is none', '{"role":"user","content":"\\x"}'],
    ['a control character', '{"role":"user","content":"a\u0001"}'],
    ['a type that stands twice', '{"content":[{"type":"thinking","Type":"text","text":"a"}]}'],
    ['a key twice in arguments', '{"content":[{"type":"tool_use","input":{"a":1,"a":2}}]}'],
    ['a key twice with an escape', '{"content":[{"type":"tool_use","input":{"a":1,"\\u0061":2}}]}'],
    ['a key twice in what is skipped', '{"content":[{"cache_control":{"type":1,"type":2}}]}'],
    ['a key twice in a sealed block', '{"content":[{"type":"thinking","x":{"a":1,"a":2}}]}'],
    ['a key twice very deep', `{"content":${'{"a":['.repeat(50)}{"b":1,"b":2}${']}'.repeat(50)}}`],
  ])('refuses %s', (_, message) => {
    const bytes = Buffer.from(`{"model":"m","messages":[${message},{"role":"user","content":""}]}`);
    const [part] = outlineOf('anthropic_messages', bytes.toString()).parts;
    expect(part && partTexts(bytes, part)).toMatchObject({ code: 'SUB_WIRE_REQUEST' });
  });

  it.each([
    ['a tool', '"tools":[{"name":"a","input_schema":{"properties":{"x":{},"x":{}}}}]'],
    ['a system prompt', '"system":[{"type":"text","text":"a","x":{"y":1,"y":2}}]'],
    ['a member that is not known', '"novel":[{"a":1,"a":2}]'],
  ])('refuses a key that stands twice in %s', (_, member) => {
    const bytes = Buffer.from(`{"model":"m",${member}}`);
    const [part] = outlineOf('anthropic_messages', bytes.toString()).parts;
    expect(part && partTexts(bytes, part)).toMatchObject({
      code: 'SUB_WIRE_REQUEST',
      message: expect.stringContaining('a key twice') as string,
    });
  });

  it('takes keys of arguments that differ by case', () => {
    const body =
      '{"model":"m","messages":[{"content":[{"type":"tool_use","input":{"a":1,"A":2}}]}]}';
    const [part] = outlineOf('anthropic_messages', body).parts;
    expect(part && partTexts(Buffer.from(body), part)).toHaveLength(1);
  });
});

function user(content: string): object {
  return { role: 'user', content };
}

function isValidJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
