import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { sandboxUpstream } from './host-fetch.ts';
import { readInstalledTools, readToolManifest, sandboxServer } from './sandbox-server.ts';
import { wasmModule } from './wasm-modules.test-support.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandbox-tools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GREETING = {
  name: 'greet',
  description: 'Greets.',
  input: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Who.' },
      tone: { type: 'string', enum: ['warm', 'cold'] },
      times: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['name'],
  },
};

function install(name: string, files: { readonly [name: string]: string | Uint8Array }): void {
  mkdirSync(join(folder, name), { recursive: true });
  for (const [file, content] of Object.entries(files))
    writeFileSync(join(folder, name, file), content);
}

test('each folder with a manifest and one program is a tool, and others are named', async () => {
  const code = 'export default ({ name, times = 1 }) => `Hello ${name}`.repeat(times);';
  install('greet', { 'tool.capabilities.json': JSON.stringify(GREETING), 'tool.js': code });
  install('echo', {
    'tool.capabilities.json': JSON.stringify({ ...GREETING, name: 'echo' }),
    'tool.wasm': wasmModule(),
  });
  install('misnamed', { 'tool.capabilities.json': JSON.stringify(GREETING), 'tool.js': code });
  install('empty', {});
  install('two', {
    'tool.capabilities.json': JSON.stringify({ ...GREETING, name: 'two' }),
    'tool.js': code,
    'tool.wasm': '',
  });
  const { tools, problems } = readInstalledTools(folder);
  expect(tools.map(({ manifest, program }) => [manifest.name, program.kind])).toEqual([
    ['echo', 'wasm'],
    ['greet', 'js'],
  ]);
  expect(problems).toEqual([
    'tools/empty: tool.capabilities.json cannot be read.',
    'tools/misnamed: The manifest has another name than the folder.',
    'tools/two: It needs one file tool.js or tool.wasm of at most 2 MB.',
  ]);

  const upstream = sandboxUpstream();
  const server = sandboxServer({
    tools,
    ports: {
      workerFile: fileURLToPath(new URL('./sandbox-worker.mjs', import.meta.url)),
      upstream,
      secret: () => Promise.reject(new Error('nobody asks')),
      protectedFolders: [],
    },
  });
  const use = { key: 'k', signal: new AbortController().signal };
  const [echo, greet] = server.tools;
  expect(greet?.inputSchema).toMatchObject({
    type: 'object',
    required: ['name'],
    additionalProperties: false,
  });
  expect(await greet?.call({ name: 'Ada', times: 2 }, use)).toEqual({ text: 'Hello AdaHello Ada' });
  expect(await echo?.call({ name: 'Ada' }, use)).toEqual({ text: '{"name":"Ada"}' });
  for (const wrong of [
    {},
    { name: 1 },
    { name: 'x', tone: 'loud' },
    { name: 'x', more: 1 },
    { name: 'x', tags: [1] },
  ]) {
    expect(await greet?.call(wrong, use)).toMatchObject({ isError: true });
  }
  await upstream.close();
});

test('a folder that is not there has no tools', () => {
  expect(readInstalledTools(join(folder, 'nowhere'))).toEqual({ tools: [], problems: [] });
});

const SECRET = { ref: 'sub://x', host: 'example.com', header: 'X-Key' };

test.each([
  ['an address for a host', { hosts: [{ host: '127.0.0.1' }] }],
  ['a number for a host', { hosts: [{ host: '2130706433' }] }],
  ['a host without a dot', { hosts: [{ host: 'localhost' }] }],
  ['a pattern for a host', { hosts: [{ host: '*.example.com' }] }],
  ['a port', { hosts: [{ host: 'example.com:8080' }] }],
  ['a path without its slash', { hosts: [{ host: 'example.com', paths: ['v1'] }] }],
  ['an unknown method', { hosts: [{ host: 'example.com', methods: ['CONNECT'] }] }],
  ['a relative file', { files: ['data.csv'] }],
  ['a file with dots', { files: ['/srv/../etc/passwd'] }],
  ['a secret for another host', { secrets: [SECRET] }],
  [
    'the name of a secret in place of a reference',
    { hosts: [{ host: 'example.com' }], secrets: [{ ...SECRET, ref: 'weather_key' }] },
  ],
  ['a name with a slash', { name: '../x' }],
  ['memory without end', { limits: { memory_mb: 100_000 } }],
  ['time without end', { limits: { time_ms: 10_000_000 } }],
  ['an unknown field', { network: true }],
  ['a required argument that is not described', { input: { type: 'object', required: ['x'] } }],
  ['a nested schema', { input: { type: 'object', properties: { x: { type: 'object' } } } }],
])('a manifest with %s is refused', (_name, changes) => {
  expect(readToolManifest(JSON.stringify({ ...GREETING, ...changes }))).toEqual(expect.any(String));
});

test('text that is no JSON is no manifest', () => {
  expect(readToolManifest('{')).toBe('The manifest is no JSON.');
});
