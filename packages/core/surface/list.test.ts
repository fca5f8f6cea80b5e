import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { GMAIL_TOOLS, GMAIL_YAML, manifestOf } from './gmail.test-support.ts';
import { filterPrompts, filterResources, filterResourceTemplates, filterTools } from './list.ts';

const LEGACY = { era: 'legacy' } as const;
const NAMES = /** The names that are left. */ (result: { readonly [key: string]: unknown }) => {
  const tools = result['tools'] as readonly { readonly name: string }[];
  return tools.map(({ name }) => name);
};

function toolIn(result: { readonly [key: string]: unknown }, wanted: string) {
  const tools = result['tools'] as readonly {
    readonly name: string;
    readonly inputSchema: object;
  }[];
  const found = tools.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`${wanted} is not shown`);
  return found;
}

/** One tool with this schema, filtered by this rewrite. */
async function rewritten(rewrite: string, inputSchema: unknown, extra = '') {
  const manifest = await manifestOf(
    `server: s\nallowed_tools: [{ name: t }]\n${extra}schema_rewrites: { t: ${rewrite} }\n`,
  );
  const filtered = filterTools({ tools: [{ name: 't', inputSchema }] }, manifest, LEGACY);
  return { filtered, schema: toolIn(filtered.result, 't').inputSchema };
}

describe('the list of tools', () => {
  it('shows the allowed tools of the mail server, without what its manifest forbids', async () => {
    verifies('ST-8.9');
    const manifest = await manifestOf(GMAIL_YAML);
    const { result, removed } = filterTools(
      { tools: GMAIL_TOOLS, nextCursor: 'c', _meta: { a: 1 } },
      manifest,
      LEGACY,
    );
    expect(NAMES(result)).toEqual(['gmail.search', 'gmail.read', 'gmail.send']);
    expect(result).toMatchObject({ nextCursor: 'c', _meta: { a: 1 } });
    expect(removed).toEqual([
      { name: 'gmail.delete', reason: 'forbidden' },
      { name: 'gmail.modify_labels', reason: 'not_listed' },
    ]);
    expect(JSON.stringify(toolIn(result, 'gmail.send').inputSchema)).not.toMatch(/bcc|forward_to/);
  });

  it('writes limits into the schemas, and touches nothing else', async () => {
    verifies('ST-8.9');
    const manifest = await manifestOf(GMAIL_YAML);
    const { result } = filterTools({ tools: GMAIL_TOOLS }, manifest, LEGACY);
    const [search] = GMAIL_TOOLS;
    expect(toolIn(result, 'gmail.search')).toEqual({
      ...search,
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string' },
          max_results: { type: 'integer', minimum: 1, maximum: 50, default: 20 },
        },
        required: ['query'],
        additionalProperties: false,
      },
    });
    expect(toolIn(result, 'gmail.send')).toMatchObject({
      inputSchema: {
        properties: { to: { type: 'array', maxItems: 5 } },
        required: ['to', 'subject'],
      },
      outputSchema: { properties: { bcc: { type: 'string' } } },
    });
  });

  it('does not change a tool without rules for its parameters', async () => {
    const manifest = await manifestOf(
      'server: s\nallowed_tools: [{ name: "*" }]\nblocked_params: [{ pattern: "other.*" }]',
    );
    const answer = { tools: GMAIL_TOOLS };
    expect(filterTools(answer, manifest, LEGACY).result).toBe(answer);
  });

  it('reports tools of the manifest that the server does not offer, on the last page only', async () => {
    verifies('ST-8.9');
    const manifest = await manifestOf(GMAIL_YAML);
    const page = { tools: GMAIL_TOOLS.slice(0, 1) };
    expect(filterTools(page, manifest, LEGACY).unlisted).toEqual(['gmail.read', 'gmail.send']);
    expect(filterTools({ ...page, nextCursor: 'x' }, manifest, LEGACY).unlisted).toEqual([]);
    const last = { era: 'legacy', offeredBefore: ['gmail.read'] } as const;
    expect(filterTools(page, manifest, last).unlisted).toEqual(['gmail.send']);
    const { warnings } = filterTools({ tools: GMAIL_TOOLS }, manifest, LEGACY);
    expect(warnings).toContain('`gmail.modify_labels` is offered but not in the manifest');
  });

  it('marks a filtered list as private and not to be cached, in the modern era', async () => {
    const manifest = await manifestOf(GMAIL_YAML);
    const answer = {
      resultType: 'complete',
      tools: GMAIL_TOOLS,
      ttlMs: 60_000,
      cacheScope: 'public',
    };
    const modern = { era: 'modern' } as const;
    expect(filterTools(answer, manifest, modern).result).toMatchObject({
      ttlMs: 0,
      cacheScope: 'private',
    });
    expect(filterTools(answer, manifest, LEGACY).result).toMatchObject({ ttlMs: 60_000 });
  });

  it('shows nothing of an answer that it does not understand', async () => {
    const manifest = await manifestOf('server: s\ndefault: auto_execute');
    for (const odd of [
      null,
      [],
      'x',
      {},
      { tools: 'x' },
      { tools: [null, 1, {}, { name: 5 }, { name: '' }] },
    ]) {
      expect(filterTools(odd, manifest, LEGACY).result).toEqual({ tools: [] });
    }
  });

  it('shows one of two tools with the same name', async () => {
    const manifest = await manifestOf('server: s\ndefault: auto_execute');
    const tools = [
      { name: 'a', description: 'one' },
      { name: 'a', description: 'two' },
    ];
    const { result, removed } = filterTools({ tools }, manifest, LEGACY);
    expect(result).toEqual({ tools: [tools[0]] });
    expect(removed).toEqual([{ name: 'a', reason: 'duplicate_name' }]);
  });
});

describe('a rewritten schema', () => {
  it('has no stripped parameter left at any depth', async () => {
    verifies('ST-8.9');
    const inner = { type: 'object', properties: { bcc: {}, to: {} }, required: ['bcc', 'to'] };
    const { schema } = await rewritten('{ strip_params: [bcc] }', {
      type: 'object',
      properties: {
        message: inner,
        list: { type: 'array', items: inner },
        map: { type: 'object', additionalProperties: inner },
        choice: { anyOf: [inner, { type: 'null' }] },
        all: { allOf: [inner, { properties: { BCC: {} } }] },
        ref: { $ref: '#/$defs/Message' },
        example: {
          type: 'object',
          properties: { a: {} },
          default: { a: 1, bcc: 2 },
          examples: [{ bcc: 1 }],
        },
      },
      dependentRequired: { bcc: ['to'], to: ['bcc', 'x'] },
      $defs: {
        Message: {
          ...inner,
          properties: { ...inner.properties, self: { $ref: '#/$defs/Message' } },
        },
        Spare: inner,
      },
      not: { required: ['bcc'] },
    });
    expect(JSON.stringify(schema)).not.toMatch(/bcc/i);
    expect(JSON.stringify(schema)).toContain('"to"');
    expect(schema).toMatchObject({ dependentRequired: { to: ['x'] } });
  });

  it('does not show a way that needs a stripped parameter', async () => {
    const { schema, filtered } = await rewritten('{ strip_params: [.b] }', {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    });
    expect(schema).toMatchObject({ anyOf: [{ required: ['a'] }], additionalProperties: false });
    expect(filtered.warnings.join()).toContain('is required by the server but taken away');
  });

  it('keeps the tighter of two limits', async () => {
    const limits =
      '{ constrain_params: { n: { maximum: 50, minimum: 2 }, s: { max_length: 9 }, l: { max_items: 3 }, e: { enum: [b, c] } } }';
    const properties = {
      n: { type: 'integer', maximum: 10, minimum: 0 },
      s: { type: ['string', 'null'], maxLength: 4 },
      l: { type: 'array', items: { type: 'number' }, maxItems: 8 },
      e: { enum: ['a', 'b'] },
    };
    const { schema } = await rewritten(limits, { type: 'object', properties });
    expect(schema).toMatchObject({
      properties: {
        n: { type: 'integer', maximum: 10, minimum: 2 },
        s: { type: 'string', maxLength: 4 },
        l: { maxItems: 3 },
        e: { enum: ['b'] },
      },
    });
  });

  it('limits every branch of an optional parameter', async () => {
    const limit = '{ constrain_params: { n: { maximum: 50 } } }';
    const n = { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null };
    const { schema } = await rewritten(limit, { type: 'object', properties: { n } });
    expect(schema).toMatchObject({
      properties: { n: { anyOf: [{ type: 'integer', maximum: 50 }] } },
    });
  });

  it('is not closed where that would rule out what another part of it describes', async () => {
    const text = { type: 'string' };
    const { schema, filtered } = await rewritten('{ strip_params: [bcc] }', {
      type: 'object',
      properties: { a: text, bcc: text, shared: { $ref: '#/$defs/base' } },
      allOf: [{ properties: { b: text } }, { $ref: '#/$defs/base' }],
      $defs: { base: { type: 'object', properties: { c: text } } },
    });
    expect(JSON.stringify(schema)).not.toContain('additionalProperties');
    expect(filtered.notes.map(({ kind }) => kind)).toContain('open');
  });

  it('comes with notes on limits that do not fit and on defaults beyond them', async () => {
    const limits =
      '{ constrain_params: { n: { maximum: 50 }, s: { maximum: 5 }, gone: { maximum: 1 } } }';
    const properties = { n: { type: 'integer', default: 100 }, s: { type: 'string' } };
    const { filtered, schema } = await rewritten(limits, { type: 'object', properties });
    expect(filtered.notes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'impossible s',
      'default_beyond_limit n',
      'unknown_param gone',
    ]);
    expect(schema).toMatchObject({ properties: { n: { type: 'integer', maximum: 50 } } });
    expect(JSON.stringify(schema)).not.toContain('default');
  });

  it.each([
    ['a free object', { type: 'object', properties: { x: { type: 'object' } } }],
    ['anything', { type: 'object', properties: { x: {} } }],
    ['members of any name', { type: 'object', additionalProperties: { type: 'string' } }],
    ['items of any kind', { type: 'object', properties: { x: { type: 'array' } } }],
    [
      'parts that are put together',
      {
        allOf: [
          { properties: { a: { type: 'string' } } },
          { properties: { b: { type: 'string' } } },
        ],
      },
    ],
    [
      'a reference to elsewhere',
      { type: 'object', properties: { x: { $ref: 'https://example.com/x' } } },
    ],
  ])('is told to be open where it describes %s', async (_, schema) => {
    const { filtered } = await rewritten(
      '{ strip_params: [bcc], constrain_params: { n: { maximum: 1 } } }',
      {
        ...schema,
        required: ['bcc'],
      },
    );
    expect(filtered.notes.map(({ kind }) => kind)).toContain('open');
  });
});

describe('hostile definitions', () => {
  const strip = 'server: s\ndefault: auto_execute\nblocked_params: [{ pattern: bcc }]';
  const nested = (depth: number) => {
    let schema: object = { type: 'string' };
    for (let level = 0; level < depth; level++)
      schema = { type: 'object', properties: { a: schema } };
    return schema;
  };
  const wide = {
    properties: Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`p${index}`, {}])),
  };

  it.each([
    ['deep', nested(5_000)],
    ['wide', wide],
    ['of another kind', 'true'],
  ])('that are %s are not shown when they must be rewritten', async (_, inputSchema) => {
    const { result, removed } = filterTools(
      { tools: [{ name: 'a', inputSchema }] },
      await manifestOf(strip),
      LEGACY,
    );
    expect(result).toEqual({ tools: [] });
    expect(removed).toEqual([{ name: 'a', reason: 'schema_too_complex' }]);
  });

  it('with references in circles come to an end', async () => {
    const inputSchema = {
      $ref: '#/$defs/a',
      $defs: {
        a: { properties: { bcc: {}, b: { $ref: '#/$defs/b' }, root: { $ref: '#' } } },
        b: { $ref: '#/$defs/c', properties: { bcc: {} } },
        c: { $ref: '#/$defs/b' },
        self: { $ref: '#/$defs/self' },
      },
    };
    const { result } = filterTools(
      { tools: [{ name: 'a', inputSchema }] },
      await manifestOf(strip),
      LEGACY,
    );
    expect(JSON.stringify(result)).not.toContain('bcc');
  });

  it('with the names of prototypes stay data', async () => {
    const inputSchema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"object","properties":{"bcc":{}}},"constructor":{"type":"string"}},"required":["__proto__"]}',
    ) as object;
    const { result } = filterTools(
      { tools: [{ name: '__proto__', inputSchema }] },
      await manifestOf(strip),
      LEGACY,
    );
    expect(JSON.stringify(result)).toBe(
      '{"tools":[{"name":"__proto__","inputSchema":{"type":"object","properties":{"__proto__":{"type":"object","properties":{},"additionalProperties":false},"constructor":{"type":"string"}},"required":["__proto__"],"additionalProperties":false}}]}',
    );
    expect(({} as { bcc?: unknown }).bcc).toBeUndefined();
  });
});

describe('prompts and resources', () => {
  const yaml = `
server: s
allowed_prompts: [{ name: "greet*" }, { name: greet-all, allowed: false }]
allowed_resources: [{ uri: "file:///docs/*" }]
`;

  it('are shown when they are listed, and only then', async () => {
    const manifest = await manifestOf(yaml);
    const prompts = {
      prompts: [{ name: 'greet', title: 'x' }, { name: 'greet-all' }, { name: 'other' }],
    };
    const filtered = filterPrompts(prompts, manifest, LEGACY);
    expect(filtered.result).toEqual({ prompts: [{ name: 'greet', title: 'x' }] });
    expect(filtered.removed.map(({ reason }) => reason)).toEqual(['forbidden', 'not_listed']);
    const resources = { resources: [{ uri: 'file:///docs/a' }, { uri: 'file:///etc/passwd' }] };
    expect(filterResources(resources, manifest, LEGACY).result).toEqual({
      resources: [{ uri: 'file:///docs/a' }],
    });
    const templates = {
      resourceTemplates: [
        { uriTemplate: 'file:///docs/{path}' },
        { uriTemplate: 'file:///{path}' },
      ],
    };
    expect(filterResourceTemplates(templates, manifest, LEGACY).result).toEqual({
      resourceTemplates: [{ uriTemplate: 'file:///docs/{path}' }],
    });
  });

  it('are hidden when the manifest does not list them', async () => {
    const manifest = await manifestOf('server: s');
    expect(filterPrompts({ prompts: [{ name: 'a' }] }, manifest, { era: 'modern' }).result).toEqual(
      {
        prompts: [],
        ttlMs: 0,
        cacheScope: 'private',
      },
    );
  });
});
