import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { memberRange } from '../json/member-ranges.ts';
import { readAnnotations } from './annotations.ts';
import { encodeHeaderValue } from './header-values.ts';
import { ToolHeaders } from './tool-headers.ts';

const param = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name });
const schema = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const listOf = (...tools: readonly unknown[]) =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools, ttlMs: 5 } }));
const SQL = {
  name: 'execute_sql',
  inputSchema: schema({
    region: param('Region'),
    count: param('Count', 'integer'),
    dry: param('Dry', 'boolean'),
    at: schema({ zone: param('Zone') }),
    query: { type: 'string' },
  }),
};

function learned(...tools: readonly unknown[]): ToolHeaders {
  const headers = new ToolHeaders();
  headers.learn(listOf(...tools));
  return headers;
}

/** The arguments of a call as they stand in a message. */
function callOf(args: string, tool = 'execute_sql') {
  const bytes = Buffer.from(`{"arguments": ${args}}`);
  return { tool, bytes, args: memberRange(bytes, 'arguments') };
}

const headersOf = (given: { readonly [name: string]: string | readonly string[] | undefined }) =>
  Object.fromEntries(
    Object.entries(given).map(([name, value = '']) => [
      name,
      typeof value === 'string' ? [value] : value,
    ]),
  );

describe('the annotation x-mcp-header', () => {
  it('is valid on primitive parameters at the end of a chain of properties', () => {
    expect(readAnnotations(SQL.inputSchema)).toEqual({
      ok: true,
      annotations: [
        { header: 'Mcp-Param-Region', path: ['region'] },
        { header: 'Mcp-Param-Count', path: ['count'] },
        { header: 'Mcp-Param-Dry', path: ['dry'] },
        { header: 'Mcp-Param-Zone', path: ['at', 'zone'] },
      ],
    });
  });

  it.each([
    ['a parameter that may be null', { a: param('A', ['string', 'null']) }],
    ['a parameter that is named like it', { 'x-mcp-header': { type: 'object' } }],
    [
      'a parameter named __proto__',
      JSON.parse('{"__proto__":{"type":"string","x-mcp-header":"P"}}'),
    ],
    ['a value that only looks like one', { a: { const: { 'x-mcp-header': '' } } }],
  ])('is valid with %s', (_, properties: object) => {
    expect(readAnnotations(schema(properties)).ok).toBe(true);
  });

  it.each([
    ['an empty name', schema({ a: param('') })],
    ['a blank in its name', schema({ a: param('My Region') })],
    ['a colon in its name', schema({ a: param('Region:Primary') })],
    ['a name beyond ASCII', schema({ a: param('Größe') })],
    ['a line break in its name', schema({ a: param('A\r\nB: c') })],
    ['a name that is no text', schema({ a: param(7) })],
    ['two names that are the same', schema({ a: param('Region'), b: param('Region') })],
    ['two names that differ in case', schema({ a: param('MyField'), b: param('myfield') })],
    ['type number', schema({ a: param('A', 'number') })],
    ['type object', schema({ a: param('A', 'object') })],
    ['type array', schema({ a: param('A', 'array') })],
    ['type null', schema({ a: param('A', 'null') })],
    ['types of which one is not primitive', schema({ a: param('A', ['string', 'object']) })],
    ['no type', schema({ a: { 'x-mcp-header': 'A' } })],
    ['the root of the schema', schema({}, { 'x-mcp-header': 'A' })],
    ['properties below items', schema({ a: { items: schema({ b: param('A') }) } })],
  ])('is invalid with %s', (_, given) => {
    expect(readAnnotations(given)).toMatchObject({ ok: false });
  });

  it.each('items additionalProperties not if then else contains'.split(' '))(
    'is invalid under %s',
    (keyword) => {
      expect(readAnnotations(schema({ a: { [keyword]: param('A') } })).ok).toBe(false);
    },
  );

  it.each('oneOf anyOf allOf prefixItems items'.split(' '))(
    'is invalid in a list %s',
    (keyword) => {
      expect(readAnnotations(schema({ a: { [keyword]: [param('A')] } })).ok).toBe(false);
    },
  );

  it.each('$defs definitions patternProperties dependentSchemas dependencies'.split(' '))(
    'is invalid by name in %s',
    (keyword) => {
      expect(readAnnotations(schema({}, { [keyword]: { a: param('A') } })).ok).toBe(false);
    },
  );

  it('is invalid in a schema without end', () => {
    let deep: object = {};
    for (let depth = 0; depth < 100; depth++) deep = { not: deep };
    const wide = Array.from({ length: 30_000 }, () => ({}));
    expect(readAnnotations(deep)).toMatchObject({
      reason: 'its schema is too large to be searched',
    });
    expect(readAnnotations({ anyOf: wide })).toMatchObject({ ok: false });
    const many = Array.from({ length: 100 }, (_, at) => param(`P${at}`));
    expect(readAnnotations(schema({ ...many }))).toMatchObject({ ok: false });
  });
});

describe('the tools of a list', () => {
  it('lose those with invalid annotations, and nothing else changes', () => {
    const bad = { name: 'bad', inputSchema: schema({ a: param('') }) };
    const plain = { name: 'plain', inputSchema: {} };
    const { bytes, invalid } = new ToolHeaders().learn(listOf(SQL, bad, plain));
    expect(Buffer.from(bytes).toString()).toBe(listOf(SQL, plain).toString());
    expect(invalid).toEqual([
      { name: 'bad', reason: 'x-mcp-header of `a` is not the name of a header' },
    ]);
  });

  it('pass as they are when all are valid', () => {
    const list = listOf(SQL);
    expect(new ToolHeaders().learn(list)).toEqual({ bytes: list, invalid: [] });
    expect(new ToolHeaders().learn(list).bytes).toBe(list);
  });

  it.each([
    '{"result":{"tools":7}}',
    '{"result":[]}',
    '{"error":{}}',
    '{"result":{"tools":[7,null,{}]}}',
  ])('are none in %s', (text) => {
    const bytes = Buffer.from(text);
    expect(new ToolHeaders().learn(bytes)).toEqual({ bytes, invalid: [] });
  });

  it('are learned anew from each list, page by page', () => {
    const headers = learned(SQL);
    headers.learn(listOf({ name: 'other', inputSchema: schema({ a: param('A') }) }));
    expect(headers.headersFor(callOf('{"region":"x"}'))).toHaveLength(1);
    headers.learn(listOf({ ...SQL, inputSchema: schema({ region: param('Area') }) }));
    expect(headers.headersFor(callOf('{"region":"x"}'))).toEqual([['Mcp-Param-Area', 'x']]);
    headers.learn(listOf({ ...SQL, inputSchema: {} }));
    expect(headers.headersFor(callOf('{"region":"x"}'))).toEqual([]);
  });
});

describe('the headers of a call', () => {
  it.each([
    ['{"region":"us-west1","query":"SELECT"}', [['Mcp-Param-Region', 'us-west1']]],
    ['{"region":"Größe"}', [['Mcp-Param-Region', '=?base64?R3LDtsOfZQ==?=']]],
    ['{"region":"a\\nb"}', [['Mcp-Param-Region', '=?base64?YQpi?=']]],
    ['{"region":""}', [['Mcp-Param-Region', '']]],
    ['{"count":42}', [['Mcp-Param-Count', '42']]],
    ['{"count":-7}', [['Mcp-Param-Count', '-7']]],
    ['{"count":42.0}', [['Mcp-Param-Count', '42']]],
    ['{"count":4.2e1}', [['Mcp-Param-Count', '42']]],
    ['{"count":9007199254740993}', []],
    ['{"dry":false}', [['Mcp-Param-Dry', 'false']]],
    ['{"at":{"zone":"b"}}', [['Mcp-Param-Zone', 'b']]],
    ['{"at":{"zone":null},"region":null}', []],
    ['{"at":"zone","zone":"x"}', []],
    ['{"region":["a"],"dry":{}}', []],
    ['{}', []],
  ])('for %s are %j', (args, wanted) => {
    expect(learned(SQL).headersFor(callOf(args))).toEqual(wanted);
  });

  it('are none without arguments, and none for a tool that was not listed', () => {
    const bytes = Buffer.from('{}');
    expect(learned(SQL).headersFor({ tool: 'execute_sql', bytes, args: undefined })).toEqual([]);
    expect(learned(SQL).headersFor(callOf('{"region":"x"}', 'other'))).toEqual([]);
  });

  it('match the arguments that they were made from', () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    );
    const args = fc.record(
      { region: value, count: value, dry: value, at: fc.record({ zone: value }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(args, (given) => {
        const call = callOf(JSON.stringify(given));
        const headers = learned(SQL);
        const made = new Map(
          headers.headersFor(call).map(([name, text]) => [name.toLowerCase(), text]),
        );
        expect(headers.check(call, headersOf(Object.fromEntries(made)))).toBeUndefined();
      }),
      runs(300),
    );
  });
});

describe('the check of a call', () => {
  it.each([
    ['the value is there', '{"region":"a"}', { 'mcp-param-region': 'a' }],
    ['the value is null and has no header', '{"region":null}', {}],
    ['neither value nor header is there', '{}', {}],
    ['the header is in Base64', '{"region":"a"}', { 'mcp-param-region': '=?base64?YQ==?=' }],
    ['the header has blanks around it', '{"region":"a"}', { 'mcp-param-region': ' a\t' }],
    ['42.0 stands for 42', '{"count":42}', { 'mcp-param-count': '42.0' }],
    ['42 stands for 42.0', '{"count":42.0}', { 'mcp-param-count': '42' }],
    ['a number is beyond the safe range', '{"count":9007199254740993}', {}],
    ['a header is not known', '{}', { 'mcp-param-other': 'x' }],
    [
      'a header of a parameter that is not annotated is sent',
      '{"query":"a"}',
      { 'mcp-param-query': 'b' },
    ],
  ])('passes when %s', (_, args, headers) => {
    expect(learned(SQL).check(callOf(args), headersOf(headers))).toBeUndefined();
  });

  it.each([
    ['the header is missing', '{"region":"a"}', {}],
    ['the value differs', '{"region":"a"}', { 'mcp-param-region': 'b' }],
    ['the case differs', '{"region":"a"}', { 'mcp-param-region': 'A' }],
    ['there is a header, but no value', '{}', { 'mcp-param-region': 'a' }],
    ['there is a header, but the value is null', '{"region":null}', { 'mcp-param-region': 'null' }],
    ['the header is sent twice', '{"region":"a"}', { 'mcp-param-region': ['a', 'a'] }],
    ['one value looks like two headers', '{"region":"a, b"}', { 'mcp-param-region': ['a', 'b'] }],
    ['the Base64 is malformed', '{"region":"Hello"}', { 'mcp-param-region': '=?base64?SGVsbG8?=' }],
    ['the header has bytes beyond ASCII', '{"region":"\u00e9"}', { 'mcp-param-region': '\u00e9' }],
    ['the number differs', '{"count":42}', { 'mcp-param-count': '43' }],
    [
      'the number differs in a place that a double has not',
      '{"count":9007199254740993}',
      { 'mcp-param-count': '9007199254740992' },
    ],
    [
      'the number differs behind the point',
      '{"count":42}',
      { 'mcp-param-count': '42.00000000000000000001' },
    ],
    ['the number is in hex', '{"count":42}', { 'mcp-param-count': '0x2a' }],
    [
      'a text stands for a number of another spelling',
      '{"count":"42"}',
      { 'mcp-param-count': '42.0' },
    ],
    ['the value is a list', '{"region":["a"]}', { 'mcp-param-region': 'a' }],
    ['a value further down differs', '{"at":{"zone":"a"}}', { 'mcp-param-zone': 'b' }],
  ])('fails when %s', (_, args, headers) => {
    expect(learned(SQL).check(callOf(args), headersOf(headers))).toMatch(/^Header mismatch: /);
  });

  it.each([
    ['needs no headers and has none', 'other', {}, undefined],
    ['needs headers', 'execute_sql', {}, 'Header mismatch'],
    ['has headers that nobody can compare', 'other', { 'mcp-param-x': 'a' }, 'Header mismatch'],
  ])('knows what to do with a call that is too large to be read and %s', (...given) => {
    const [, tool, headers, fault] = given;
    const found = learned(SQL).checkLarge(tool, headersOf(headers));
    expect(found?.split(':')[0]).toBe(fault);
  });

  it('finds every header that says something else than the arguments', () => {
    const text = fc.string({ unit: fc.constantFrom(...'aA 0.,\t\u00e9='), maxLength: 6 });
    fc.assert(
      fc.property(text, text, (inBody, inHeader) => {
        const call = callOf(JSON.stringify({ region: inBody }));
        const headers = { 'mcp-param-region': [encodeHeaderValue(inHeader)] };
        const fault = learned(SQL).check(call, headers);
        expect(fault === undefined).toBe(inBody === inHeader);
      }),
      runs(300),
    );
  });
});
