// The policy of docs/start/twelve-lines.md, read out of the page, decides what its sentence says.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { filesystemServer } from '../bundled.ts';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, ROOT, SUB } from './sub.ts';

const PAGE = readFileSync(`${ROOT}docs/start/twelve-lines.md`, 'utf8');
const [, POLICY = ''] = /```yaml\n(.*?)```/s.exec(PAGE) ?? [];
const FILES = filesystemServer();
const TOKEN = ['ghp', '_', 'x7Kq2mN9pR4sT6vW8yZ1bC3dF5gH7jL9qX2a'].join('');
const TESTS = `policy: policy.yaml
tests:
  - name: no shell
    call: { server_name: local, tool_name: execute_command, args: { command: ls } }
    expect: { decision: BLOCK, rule: no-shell }
  - name: never .env, not even in a command
    call: { server_name: local, tool_name: run, args: { command: cat src/../.env } }
    expect: { decision: BLOCK, rule: never-env }
  - name: never .env, not even as a resource
    call:
      { server_name: files, tool_name: resources/read, subject: resource, args: { uri: "file:///x/.env" } }
    expect: { decision: BLOCK, rule: never-env }
  - name: no shell, in any case
    call: { server_name: local, tool_name: runCommand, args: { command: ls } }
    expect: { decision: BLOCK, rule: no-shell }
  - name: ask before git push
    call: { server_name: git, tool_name: git_push }
    expect: { decision: ASK, rule: ask-push }
  - name: a write without a place
    call: { server_name: files, tool_name: write_file, args: { at: src/a.ts } }
    expect: { decision: BLOCK, rule: only-src }
  - name: a writer that does not begin with the verb
    call: { server_name: files, tool_name: fs_writeFile, args: { path: /etc/hosts } }
    expect: { decision: BLOCK, rule: only-src }
  - name: a decoy beside another place
    call: { server_name: files, tool_name: write_file, args: { path: src/ok, to: /etc/passwd } }
    expect: { decision: BLOCK, rule: nowhere-else }
  - name: call 200 passes
    call: { server_name: files, tool_name: read_file, args: { path: README.md }, repeat: 200 }
    expect: { decision: ALLOW }
  - name: call 201 does not
    call: { server_name: files, tool_name: read_file, args: { path: README.md }, repeat: 201 }
    expect: { decision: BLOCK, rule: at-most-200 }
`;

let folder = '';
beforeAll(() => {
  ensureBuilt();
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'sub-twelve-')));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, '.env'), 'A=1\n');
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  writeFileSync(join(folder, 'policy.test.yaml'), TESTS);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = () => ({ HOME: folder, SUB_HOME: join(folder, 'home') });

test('it has twelve lines', () => {
  expect(POLICY.trimEnd().split('\n')).toHaveLength(12);
});

test.each([
  ['lint', '--strict', 'policy.yaml'],
  ['test', 'policy.test.yaml'],
])('sub policy %s has nothing to say against it', async (...args) => {
  const { code, stdout } = await askSub(['policy', ...args], { cwd: folder, env: env() });
  expect(code, stdout).toBe(0);
});

test('a real server behind it is kept from .env, from files beside src/, and from secrets', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const shim = ['shim', '--server-name', 'files', '--policy', 'policy.yaml', '--events', 'off'];
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [SUB, ...shim, '--', process.execPath, FILES, folder],
      env: { ...env(), PATH: process.env['PATH'] ?? '' },
      cwd: folder,
      stderr: 'ignore',
    }),
  );
  const at = (name: string) => ({ path: join(folder, name) });
  const isRefused = async (name: string, args: { [key: string]: unknown }) =>
    (await client.callTool({ name, arguments: args })).isError === true;
  try {
    expect(await isRefused('read_text_file', at('.env'))).toBe(true);
    expect(await isRefused('write_file', { ...at('src/a.ts'), content: 'x' })).toBe(false);
    expect(await isRefused('write_file', { ...at('b.ts'), content: 'x' })).toBe(true);
    expect(await isRefused('write_file', { ...at('src/c.ts'), content: TOKEN })).toBe(true);
  } finally {
    await client.close();
  }
  const written = ['src/a.ts', 'b.ts', 'src/c.ts'].map((name) => existsSync(join(folder, name)));
  expect(written).toEqual([true, false, false]);
});
