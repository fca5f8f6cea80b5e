// Looks at real servers that are reached by an address, of both eras.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { isObject } from '@subluminal/contracts';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startNotesServer } from '../../../../test/clients/remote-server.ts';
import { type ProbeResult, probeServer } from './probe-server.ts';
import { remoteNamed } from './remote-address.ts';

const TOKEN = 'tk-5f0c1d9e7a33b2';

let folder: string;
let home: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-look-far-'));
  home = join(folder, 'sub');
  mkdirSync(home, { mode: 0o700 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function look(more: { readonly [name: string]: string } = {}): Promise<ProbeResult> {
  const env = { PATH: process.env['PATH'], HOME: folder, SUB_HOME: home, ...more };
  const asked = { env, cwd: folder, timeoutMs: 20_000, version: '1' };
  return probeServer({ server: 'notes', ...asked });
}

function config(entry: object): void {
  writeFileSync(join(folder, '.claude.json'), JSON.stringify({ mcpServers: { notes: entry } }));
}

async function notes(): Promise<string> {
  const { origin, close } = await startNotesServer(TOKEN);
  onTestFinished(close);
  return origin;
}

function toolsOf(looked: ProbeResult): readonly unknown[] {
  if (looked.kind !== 'seen') throw new Error(JSON.stringify(looked));
  return looked.seen.tools.map((tool) => (isObject(tool) ? tool['name'] : undefined));
}

function failureOf(looked: ProbeResult) {
  if (looked.kind !== 'failure') throw new Error(JSON.stringify(looked));
  return looked;
}

const NOTES = ['read_note', 'write_note'];

test.each([
  ['http', '/mcp'],
  ['sse', '/sse'],
])('a legacy server is looked at over %s, with the headers of its entry', async (type, path) => {
  const url = `\${ORIGIN}${path}`;
  config({ type, url, headers: { Authorization: 'Bearer ${TOKEN}' } });
  const looked = await look({ ORIGIN: await notes(), TOKEN });
  expect(toolsOf(looked)).toEqual(NOTES);
  expect(looked).toMatchObject({
    transport: type,
    foundIn: { client: 'Claude Code' },
    seen: { protocolVersion: '2025-11-25', serverInfo: { name: 'notes' } },
  });
});

test('a server behind a shim is looked at without it, with its secret from the store', async () => {
  const url = `${await notes()}/mcp`;
  mkdirSync(join(home, 'secrets'), { mode: 0o700 });
  writeFileSync(join(home, 'secrets', 'token'), `${TOKEN}\n`, { mode: 0o600 });
  const lines = ['inject_as = "T"', 'secret_ref = "token"', 'source = "file"', `url = "${url}"`];
  const table = `[[servers.notes.secret_bindings]]\n${lines.join('\n')}\n`;
  writeFileSync(join(home, 'config.toml'), table);
  const args = ['shim', '--server-name', 'notes', '--url', url, '--bearer-env', 'T'];
  config({ type: 'stdio', command: '/opt/sub', args });
  expect(toolsOf(await look())).toEqual(NOTES);
});

test('a server that wants a login says so, and how', async () => {
  config({ type: 'http', url: `${await notes()}/mcp` });
  const failed = failureOf(await look());
  expect(failed).toMatchObject({ code: 'SUB_SERVER_LOOK' });
  expect(`${failed.message} ${failed.fix}`).toContain('sub auth login');
});

test('an address that nobody answers at is told', async () => {
  config({ type: 'http', url: 'http://127.0.0.1:1/mcp' });
  expect(failureOf(await look()).message).toContain('`notes`');
});

test('an entry that no shim can stand before is not looked at', async () => {
  config({ type: 'http', url: 'https://mcp.example.com', headersHelper: 'x' });
  expect(failureOf(await look())).toMatchObject({
    code: 'SUB_SERVER_UNKNOWN',
    message: expect.stringContaining('headersHelper') as unknown,
  });
});

test('a server of the modern era alone is asked in its era', async () => {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(
        { name: 'modern', version: '2.0.0' },
        { instructions: 'Be brief.' },
      );
      server.registerTool('far_tool', { description: 'Far.' }, () => ({ content: [] }));
      return server;
    },
    { legacy: 'reject' },
  );
  const handle = toNodeHandler(handler);
  const server = createServer(
    (request, response) => void handle(request as Parameters<typeof handle>[0], response),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  config({ type: 'http', url: `http://127.0.0.1:${port}/mcp` });
  const looked = await look();
  expect(toolsOf(looked)).toEqual(['far_tool']);
  expect(looked).toMatchObject({
    seen: {
      protocolVersion: '2026-07-28',
      serverInfo: { name: 'modern' },
      instructions: 'Be brief.',
    },
  });
});

test('a server whose address is a secret is found by its name, also behind its shim', async () => {
  const url = `${await notes()}/mcp?api_key=${TOKEN}`;
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const place = { env: { HOME: folder }, project: folder };
  config({ type: 'http', url, headers });
  expect(remoteNamed({ server: 'notes', place })).toMatchObject({ url, login: {} });
  expect(toolsOf(await look())).toEqual(NOTES);
  const args = ['shim', '--server-name', 'notes', '--url-env', 'MCP_URL'];
  const env = { MCP_URL: url, A: headers.Authorization };
  config({ command: '/opt/sub', args: [...args, '--header-env', 'Authorization=A'], env });
  expect(remoteNamed({ server: 'notes', place })).toMatchObject({ url, login: {} });
  expect(toolsOf(await look())).toEqual(NOTES);
});
