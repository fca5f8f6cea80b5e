// The annotations of a schema that a manifest has rewritten: still valid, and none of a parameter that is gone.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { manifestOf } from '../surface/gmail.test-support.ts';
import { filterTools } from '../surface/index.ts';
import { paramRules } from '../surface/manifest/lookup.ts';
import { rewriteSchema } from '../surface/schema/rewrite.ts';
import { readAnnotations } from './annotations.ts';
import { ToolHeaders } from './tool-headers.ts';

const annotated = (name: string, type: unknown = 'string') => ({ type, 'x-mcp-header': name });
const SCHEMA = {
  type: 'object',
  properties: {
    region: annotated('Region'),
    count: annotated('Count', 'integer'),
    dry: annotated('Dry', ['boolean', 'null']),
    at: {
      type: 'object',
      properties: { zone: annotated('Zone'), rack: annotated('Rack', 'integer') },
    },
    bcc: annotated('Bcc'),
  },
  required: ['region', 'bcc'],
};
const headersOf = (schema: unknown) => {
  const read = readAnnotations(schema);
  if (!read.ok) throw new Error(read.reason);
  return read.annotations.map(({ header }) => header.slice('Mcp-Param-'.length));
};

describe('a schema that a manifest rewrites', () => {
  it('loses the headers of the parameters that are stripped, wherever they stand', async () => {
    const manifest = await manifestOf(
      'server: mail\ndefault: auto_execute\nschema_rewrites: { send: { strip_params: [bcc, at.zone] } }\n',
    );
    const answer = { tools: [{ name: 'send', inputSchema: SCHEMA }] };
    const { result } = filterTools(answer, manifest, { era: 'modern' });
    const headers = new ToolHeaders();
    const line = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    expect(headers.learn(line).invalid).toEqual([]);
    const bytes = Buffer.from('{"region":"r","bcc":"b","at":{"zone":"z","rack":7}}');
    const call = { tool: 'send', bytes, args: { start: 0, end: bytes.length } };
    expect(headers.headersFor(call)).toEqual([
      ['Mcp-Param-Region', 'r'],
      ['Mcp-Param-Rack', '7'],
    ]);
  });

  it('keeps all other annotations valid, whatever the limits are', async () => {
    const limit = fc.constantFrom(
      '{ maximum: 5 }',
      '{ minimum: 1 }',
      '{ max_length: 3 }',
      '{ pattern: "^a+$" }',
      '{ max_recipients: 2 }',
      '{ max_size_bytes: 10 }',
      '{ enum: [a, b] }',
      '{ enum: [1, 2] }',
      '{ max_items: 2 }',
    );
    const path = fc.constantFrom('region', 'count', 'dry', 'at', 'at.zone', 'at.rack', 'bcc');
    const name = fc.constantFrom('region', 'count', 'dry', 'at.zone', 'bcc', 'zone', 'at');
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(path, limit, { maxKeys: 4 }),
        fc.uniqueArray(name, { maxLength: 3 }),
        async (limits, strips) => {
          const lines = Object.entries(limits).map(([key, value]) => `${key}: ${value}`);
          const manifest = await manifestOf(
            `server: mail\ndefault: auto_execute\nschema_rewrites: { send: { strip_params: [${strips.join(', ')}], constrain_params: { ${lines.join(', ')} } } }\n`,
          );
          const rules = paramRules(manifest, 'send');
          const rewritten = rewriteSchema(SCHEMA, rules);
          if (!rewritten.ok) throw new Error('the schema was not rewritten');
          const left = headersOf(rewritten.schema);
          expect(headersOf(SCHEMA)).toEqual(expect.arrayContaining(left));
          expect(left.includes('Region')).toBe(!strips.includes('region'));
          expect(left.includes('Bcc')).toBe(!strips.includes('bcc'));
        },
      ),
      runs(200),
    );
  });
});
