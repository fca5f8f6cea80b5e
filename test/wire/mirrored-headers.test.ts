// Headers and body are one request to every reader: the check of `sub serve` beside that of the official SDK.
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import {
  checkStandardHeaders,
  HEADER_MISMATCH,
  mirroredName,
  type RequestHeaders,
  standardHeaders,
  ToolHeaders,
} from '@subluminal/core/mirrored-headers';
import { peek } from '@subluminal/core/session';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runs } from '../runs.ts';

const VERSION = '2026-07-28';
const TOOL = 'get_size';
const SCHEMA = {
  type: 'object' as const,
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    at: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
  },
};
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

function sdkServer(): McpServer {
  const server = new McpServer({ name: 'test', version: '1' });
  // The SDK's type of a schema does not know the keyword.
  const inputSchema = fromJsonSchema(SCHEMA as Parameters<typeof fromJsonSchema>[0]);
  server.registerTool(TOOL, { inputSchema }, () => ({ content: [] }));
  return server;
}

const tools = new ToolHeaders();
let server: Server;

beforeAll(async () => {
  const handle = toNodeHandler(createMcpHandler(sdkServer, { legacy: 'reject' }));
  server = createServer((incoming, response) => {
    void handle(incoming as Parameters<typeof handle>[0], response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const result = { tools: [{ name: TOOL, inputSchema: SCHEMA }] };
  tools.learn(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result })));
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

type Field = readonly [name: string, value: string];

/** The code of the error that the SDK answers with; 0 for none. */
async function sdkCode(body: string, fields: readonly Field[]): Promise<number> {
  const { port } = server.address() as AddressInfo;
  const headers = [
    ...['content-type', 'application/json', 'accept', 'application/json, text/event-stream'],
    ...['host', `127.0.0.1:${port}`, 'content-length', String(Buffer.byteLength(body))],
    ...fields.flat(),
  ];
  const answer = await new Promise<unknown>((resolve, reject) => {
    const sent = request({ port, method: 'POST', path: '/mcp', headers }, (response) => {
      const isStream = response.headers['content-type']?.includes('event-stream') === true;
      if (isStream) response.resume();
      resolve(isStream ? {} : json(response));
    });
    sent.on('error', reject).end(body);
  });
  return (answer as { error?: { code: number } }).error?.code ?? 0;
}

/** Why we refuse it, if we do. */
function ownFault(body: string, fields: readonly Field[]): string | undefined {
  const bytes = Buffer.from(body);
  const seen = peek(bytes);
  if (seen.kind !== 'request') throw new Error(seen.kind);
  const headers: { [name: string]: string[] } = {};
  for (const [name, value] of fields) (headers[name.toLowerCase()] ??= []).push(value);
  const { method, params } = seen;
  const name = mirroredName(bytes, method);
  const facts = { method, name, version: params.metaVersion };
  const known: RequestHeaders = headers;
  const call = { tool: name ?? '', bytes, args: params.args };
  return checkStandardHeaders(known, facts) ?? tools.check(call, known);
}

const callOf = (args: unknown, name = TOOL) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args, _meta: META },
  });

function fieldsFor(body: string): Field[] {
  const bytes = Buffer.from(body);
  const seen = peek(bytes);
  const args = seen.kind === 'request' ? seen.params.args : undefined;
  return [
    ['MCP-Protocol-Version', VERSION],
    ...(standardHeaders('tools/call', mirroredName(bytes, 'tools/call')) ?? []),
    ...tools.headersFor({ tool: TOOL, bytes, args }),
  ];
}

const TEXT = fc.string({ unit: fc.constantFrom(...'aZ 9,=?\tü世\n\u0000"'), maxLength: 8 });
const ARGS = fc.record(
  {
    region: fc.option(fc.oneof(TEXT, fc.constant('=?base64?YQ==?='))),
    count: fc.option(fc.maxSafeInteger()),
    dry: fc.option(fc.boolean()),
    at: fc.record({ zone: fc.option(TEXT) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

it('the headers that we make for a call are those that the SDK wants', async () => {
  await fc.assert(
    fc.asyncProperty(ARGS, async (args) => {
      const body = callOf(args);
      const fields = fieldsFor(body);
      expect(ownFault(body, fields)).toBeUndefined();
      expect(await sdkCode(body, fields)).not.toBe(HEADER_MISMATCH);
    }),
    runs(400),
  );
});

/** What an attacker does to honest headers: other values, spellings and places. */
const ATTACK = fc.record({
  at: fc.nat(7),
  what: fc.constantFrom(
    'drop',
    'twice',
    'case',
    'blank',
    'base64',
    'other',
    'padding',
    'name',
    'move',
  ),
  value: fc.oneof(
    TEXT.map(header),
    fc.constantFrom('1', '1.0', '01', '0x1', 'true', 'TRUE', 'null'),
  ),
});

/** Node sends no other characters in a header. */
function header(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e]/g, '');
}

function attacked(
  fields: readonly Field[],
  { at, what, value }: { at: number; what: string; value: string },
): Field[] {
  const [name, honest] = fields[at % fields.length] ?? ['Mcp-Method', 'x'];
  const others = fields.filter((field) => field[0] !== name);
  const base64 = `=?base64?${Buffer.from(honest).toString('base64')}?=`;
  const changed: { readonly [what: string]: readonly Field[] } = {
    drop: [],
    twice: [
      [name, honest],
      [name, value],
    ],
    case: [[name, honest.toUpperCase()]],
    blank: [[name, ` ${honest}\t`]],
    base64: [[name, base64]],
    padding: [[name, base64.replace(/=+\?=$/, '?=')]],
    other: [[name, value]],
    name: [[name.toUpperCase(), honest]],
    move: [
      ['Mcp-Param-Other', honest],
      ['Mcp-Param-Region', value],
    ],
  };
  return [...others, ...(changed[what] ?? [])];
}

it('no request passes us that the SDK refuses for its headers', async () => {
  const seen = { refused: 0, passed: 0 };
  await fc.assert(
    fc.asyncProperty(ARGS, ATTACK, async (args, attack) => {
      const body = callOf(args);
      const fields = attacked(fieldsFor(body), attack);
      const code = await sdkCode(body, fields);
      const isPassed = ownFault(body, fields) === undefined;
      if (code === HEADER_MISMATCH) seen.refused++;
      else if (isPassed) seen.passed++;
      expect(isPassed && code === HEADER_MISMATCH).toBe(false);
    }),
    runs(1_200),
  );
  expect(seen.refused).toBeGreaterThan(50);
  expect(seen.passed).toBeGreaterThan(50);
});
