import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Finding, Machine } from './check.ts';
import { checkClients } from './check-clients.ts';
import { machineIn, put } from './machine.test-support.ts';

let folder = '';
let machine: Machine;
let governed = { command: '', args: [''] };
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-clients-'));
  const launcher = put(join(folder, 'lib', 'sub.mjs'), '');
  symlinkSync(launcher, join(folder, 'sub'));
  machine = { ...(await machineIn(folder)), launcher: join(folder, 'sub') };
  const args = [launcher, 'shim', '--server-name', 'a', '--', 'git-mcp'];
  governed = { command: process.execPath, args };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const look = (): Promise<Finding> => checkClients(machine);
const plain = { command: 'npx', args: ['-y', 'server-github'], env: { TOKEN: 'hunter2' } };

test('the check finds nothing on a machine without clients', async () => {
  expect(await look()).toEqual({ level: 'ok', text: 'no configuration of a known client here' });
});

test('the check counts the servers of every client and how many go through sub', async () => {
  const claude = {
    mcpServers: { a: plain, b: governed },
    projects: { '/x': { mcpServers: { c: governed }, history: ['mcpServers'] } },
  };
  put(join(machine.userHome, '.claude.json'), JSON.stringify(claude));
  put(join(machine.cwd, '.mcp.json'), JSON.stringify({ mcpServers: {} }));
  put(join(machine.userHome, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { d: plain } }));
  put(
    join(machine.cwd, '.vscode', 'mcp.json'),
    `{ // comments are fine\n "servers": { "e": ${JSON.stringify(governed)}, }, }`,
  );
  put(
    join(machine.userHome, '.codex', 'config.toml'),
    `[mcp_servers.f]\ncommand = "${process.execPath}"\nargs = ["${join(folder, 'sub')}", "shim", "--", "x"]\n`,
  );
  expect(await look()).toEqual({
    level: 'warn',
    text: [
      'Claude Code: 2 of 3 servers governed, not a',
      'Claude Code, this project: 0 of 0 servers governed',
      'Codex CLI: 1 of 1 server governed',
      'Cursor: 0 of 1 server governed, not d',
      'VS Code, this project: 1 of 1 server governed',
    ].join('; '),
    fix: 'Run `sub import` to put a shim in front of each of them.',
  });
});

test('the check is ok when all servers are governed', async () => {
  put(join(machine.cwd, '.mcp.json'), JSON.stringify({ mcpServers: { a: governed } }));
  expect(await look()).toMatchObject({ level: 'ok' });
});

test('the check prints the names of servers and nothing else from the files', async () => {
  const remote = { url: 'https://example.com/?key=hunter3', headers: { Authorization: 'hunter4' } };
  const mcpServers = { 'my-server': plain, ['n'.repeat(100)]: plain, far: remote };
  put(join(machine.cwd, '.mcp.json'), JSON.stringify({ mcpServers }));
  const said = JSON.stringify(await look());
  expect(said).toContain(`not my-server, ${'n'.repeat(39)}…, far`);
  for (const word of ['hunter', 'server-github', 'TOKEN', 'example.com', 'Authorization']) {
    expect(said).not.toContain(word);
  }
});

test('the check counts a server with an address like any other', async () => {
  const remote = { type: 'http', url: 'https://example.com/mcp' };
  put(join(machine.cwd, '.mcp.json'), JSON.stringify({ mcpServers: { a: governed, b: remote } }));
  const { level, text, fix } = await look();
  expect({ level, text }).toEqual({
    level: 'warn',
    text: 'Claude Code, this project: 1 of 2 servers governed, not b',
  });
  expect(fix).toContain('sub import');
});

test('the check names a limited number of servers, and counts the rest', async () => {
  const names = Array.from({ length: 11 }, (_, index) => `s${index}`);
  const mcpServers = Object.fromEntries(names.map((name) => [name, plain]));
  put(join(machine.cwd, '.mcp.json'), JSON.stringify({ mcpServers }));
  expect((await look()).text).toMatch(/not s0, .*, s7 and 3 more$/);
});

test('the check reports a file that cannot be read', async () => {
  put(join(machine.cwd, '.mcp.json'), '{ "mcpServers": ');
  expect(await look()).toMatchObject({
    level: 'warn',
    text: 'Claude Code, this project: the file cannot be read',
  });
});

describe('a governed server that cannot start is broken', () => {
  const own = () => [process.execPath, join(folder, 'sub')];
  const shim = (flags: readonly string[], program = own()) => {
    const [command, ...args] = [...program, 'shim', '--server-name', 'a', ...flags, '--', 'x'];
    put(join(machine.cwd, '.mcp.json'), JSON.stringify({ mcpServers: { a: { command, args } } }));
  };

  test('a governed server whose sub is gone is broken', async () => {
    shim([], ['node', join(folder, 'sub.mjs')]);
    const { level, text, more } = await look();
    expect({ level, text }).toMatchObject({
      level: 'broken',
      text: expect.stringContaining('1 governed server cannot start') as unknown,
    });
    expect(more).toEqual([
      `${join(machine.cwd, '.mcp.json')}: a: ${join(folder, 'sub.mjs')} is gone`,
    ]);
  });

  test('a governed server whose policy is gone or broken is broken', async () => {
    const path = join(folder, 'p.yaml');
    shim(['--policy', path]);
    expect((await look()).more?.join('')).toContain(`its policy ${path} is gone`);
    put(path, 'rules: [');
    expect((await look()).more?.join('')).toContain(`its policy ${path} is broken`);
  });
});

test('a server without a command and without an address is not said to have one', async () => {
  put(
    join(machine.userHome, '.config', 'zed', 'settings.json'),
    JSON.stringify({ context_servers: { ext: { settings: {} } } }),
  );
  const { level, text } = await look();
  expect(level).toBe('warn');
  expect(text).toBe('Zed: 0 of 1 server governed, not ext (no shim can stand before it)');
});

describe('a server is governed by', () => {
  test.each([
    [['NODE', 'LIB/sub.mjs', 'shim', '--', 'x'], true],
    [['NODE', '--no-warnings', 'LIB/sub.mjs', 'shim', '--', 'x'], true],
    [['BIN/sub', 'shim', '--server-name', 'a', '--', 'x'], true],
    [['BIN/other/sub', 'shim', '--', 'x'], false],
    [['BIN/other/node', 'LIB/sub.mjs', 'shim', '--', 'x'], false],
    [['NODE', '-r', 'LIB/sub.mjs', 'shim', '--', 'x'], false],
    [['NODE', '--check', 'LIB/sub.mjs', 'shim', '--', 'x'], false],
    [['sub', 'shim', '--', 'x'], false],
    [['npx', 'sub', 'shim', '--', 'x'], false],
    [['npm', 'run', '--silent', 'sub', 'shim', '--', 'x'], false],
    [['pnpm', 'exec', 'sub', 'shim', '--', 'x'], false],
    [['C:\\tools\\sub.cmd', 'shim', '--', 'x'], false],
    [['x', '--', 'sub', 'shim'], false],
    [['sub', 'run', '--', 'x'], false],
    [[], false],
  ])('%j: %s', async (words, is) => {
    for (const name of ['sub', 'node']) put(join(folder, 'other', name), '', 0o700);
    expect((await lookAt({ words })).level).toBe(is ? 'ok' : 'warn');
  });

  test('the `sub` that the PATH leads to, unless its entry has a PATH of its own', async () => {
    machine = { ...machine, env: { ...machine.env, PATH: folder } };
    // As it is installed.
    chmodSync(join(folder, 'lib', 'sub.mjs'), 0o700);
    const words = ['sub', 'shim', '--', 'x'];
    expect((await lookAt({ words })).level).toBe('ok');
    const finding = await lookAt({ words, env: { PATH: './evil' } });
    expect(finding).toMatchObject({
      level: 'warn',
      text: expect.stringContaining('not counted a (started by another sub)') as unknown,
    });
    expect((await lookAt({ words, env: { Path: './evil' } })).level).toBe('warn');
    machine = { ...machine, env: { ...machine.env, PATH: `.:${folder}` } };
    expect((await lookAt({ words })).level).toBe('warn');
  });

  function lookAt({ words, env }: { readonly words: readonly string[]; readonly env?: object }) {
    const [command, ...args] = words.map((word) =>
      word
        .replace('LIB', join(folder, 'lib'))
        .replace('BIN', folder)
        .replace('NODE', process.execPath),
    );
    const server = command === undefined ? { url: 'https://example.com' } : { command, args, env };
    put(join(machine.cwd, '.mcp.json'), JSON.stringify({ mcpServers: { a: server } }));
    return look();
  }
});
