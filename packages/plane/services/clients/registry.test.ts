import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { CLIENTS, clientOf, clientStartedBy, fileAt, findClient } from './index.ts';
import { SAMPLES } from './testing/samples.ts';
import type { ClientId, ClientPlace, ConfigFile, ReadConfig } from './types.ts';

const LINUX: ClientPlace = {
  platform: 'linux',
  userHome: '/home/u',
  project: '/projects/app',
  env: {},
};
const MACOS: ClientPlace = { ...LINUX, platform: 'darwin', userHome: '/Users/u' };
const pathsOf = (id: ClientId, place: ClientPlace): readonly string[] =>
  clientOf(id)
    .files(place)
    .map(({ path, scope }) => `${scope} ${path}`);

function readAs(id: ClientId, text: string, file: Partial<ConfigFile> = {}) {
  const format = id === 'codex' ? 'toml' : 'jsonc';
  return clientOf(id).read({ client: id, scope: 'user', path: '/x/y.json', format, ...file }, text);
}

function entriesOf(id: ClientId, text: string, file: Partial<ConfigFile> = {}) {
  const read = readAs(id, text, file);
  if (read.kind === 'failure') throw new Error(read.message);
  return read.entries;
}

describe('a client is recognized by the command that starts it', () => {
  test.each([
    ['claude-code', ['claude']],
    ['claude-code', ['/usr/local/bin/claude', '-p', 'hello']],
    ['claude-code', ['claude-code']],
    ['claude-code', ['npx', '-y', '@anthropic-ai/claude-code@2.0.1', '-p', 'x']],
    ['claude-desktop', ['/Applications/Claude.app/Contents/MacOS/Claude']],
    ['claude-desktop', ['/Applications/Claude.app']],
    ['claude-desktop', ['open', '-n', '-a', 'Claude']],
    ['claude-desktop', ['claude-desktop']],
    ['codex', ['codex', 'exec', 'x']],
    ['codex', ['npx', '@openai/codex']],
    ['copilot-cli', ['copilot', '-p', 'x']],
    ['copilot-cli', ['npx', '@github/copilot@1.0.102']],
    ['gemini-cli', ['gemini', '-p', 'x']],
    ['gemini-cli', ['npx', '-y', '@google/gemini-cli']],
    ['cursor', ['cursor', '.']],
    ['cursor', ['/Applications/Cursor.app/Contents/Resources/app/bin/code']],
    ['vscode', ['code', '--wait']],
    ['vscode', ['code-insiders']],
    ['vscode', ['/Applications/Visual Studio Code.app/Contents/MacOS/Electron']],
    ['windsurf', ['windsurf']],
    ['zed', ['zed', '.']],
  ] as const)('%s: %j', (id, command) => {
    verifies('F-001');
    expect(clientStartedBy(command)).toBe(clientOf(id));
  });

  test.each([
    [['my-agent']],
    [['claudette']],
    [['node', 'claude']],
    [['npx', 'claude']],
    [['/Applications/Other.app/Contents/MacOS/claude']],
    [[]],
  ])('the command %j starts no client that is known', (command) => {
    verifies('F-001');
    expect(clientStartedBy(command)).toBeUndefined();
  });

  test('a client is found by its id or an alias', () => {
    for (const client of CLIENTS) {
      for (const word of [client.id, ...client.aliases]) {
        expect(findClient(word)).toBe(client);
      }
    }
    expect(findClient('Claude')).toMatchObject({ id: 'claude-code' });
    expect(findClient('emacs')).toBeUndefined();
  });

  test('no word stands for two clients', () => {
    const words = CLIENTS.flatMap(({ id, aliases }) => [id, ...aliases]);
    expect(new Set(words).size).toBe(words.length);
  });
});

describe('configs are found', () => {
  test.each([
    ['claude-code', ['user /home/u/.claude.json', 'project /projects/app/.mcp.json']],
    ['claude-desktop', ['user /home/u/.config/Claude/claude_desktop_config.json']],
    ['codex', ['user /home/u/.codex/config.toml', 'project /projects/app/.codex/config.toml']],
    [
      'copilot-cli',
      [
        'user /home/u/.copilot/mcp-config.json',
        'project /projects/app/.github/mcp.json',
        'project /projects/app/.mcp.json',
      ],
    ],
    ['cursor', ['user /home/u/.cursor/mcp.json', 'project /projects/app/.cursor/mcp.json']],
    [
      'gemini-cli',
      ['user /home/u/.gemini/settings.json', 'project /projects/app/.gemini/settings.json'],
    ],
    [
      'vscode',
      [
        'user /home/u/.config/Code/User/settings.json',
        'user /home/u/.config/Code/User/mcp.json',
        'user /home/u/.config/Code - Insiders/User/settings.json',
        'user /home/u/.config/Code - Insiders/User/mcp.json',
        'project /projects/app/.vscode/settings.json',
        'project /projects/app/.vscode/mcp.json',
      ],
    ],
    [
      'windsurf',
      [
        'user /home/u/.codeium/windsurf/mcp_config.json',
        'user /home/u/.codeium/windsurf-next/mcp_config.json',
      ],
    ],
    ['zed', ['user /home/u/.config/zed/settings.json', 'project /projects/app/.zed/settings.json']],
    ['custom', []],
  ] as const)('on Linux, of %s', (id, paths) => {
    verifies('F-002');
    expect(pathsOf(id, LINUX)).toEqual(paths);
  });

  test('on macOS, where that differs', () => {
    verifies('F-002');
    const data = '/Users/u/Library/Application Support';
    expect(pathsOf('claude-desktop', MACOS)).toEqual([
      `user ${data}/Claude/claude_desktop_config.json`,
    ]);
    expect(pathsOf('vscode', MACOS)).toContain(`user ${data}/Code/User/mcp.json`);
    expect(pathsOf('zed', { ...MACOS, env: { XDG_CONFIG_HOME: '/xdg' } })[0]).toBe(
      'user /Users/u/.config/zed/settings.json',
    );
    expect(pathsOf('claude-code', MACOS)[0]).toBe('user /Users/u/.claude.json');
  });

  test('where the environment has moved them', () => {
    const env = {
      ...{ XDG_CONFIG_HOME: '/xdg', CLAUDE_CONFIG_DIR: '/claude', CODEX_HOME: '/codex' },
      ...{ COPILOT_HOME: '/copilot', GEMINI_CLI_HOME: '/gemini' },
    };
    const place = { ...LINUX, env };
    expect(pathsOf('zed', place)[0]).toBe('user /xdg/zed/settings.json');
    expect(pathsOf('vscode', place)[1]).toBe('user /xdg/Code/User/mcp.json');
    expect(pathsOf('claude-code', place)[0]).toBe('user /claude/.claude.json');
    expect(pathsOf('codex', place)[0]).toBe('user /codex/config.toml');
    expect(pathsOf('copilot-cli', place)[0]).toBe('user /copilot/mcp-config.json');
    expect(pathsOf('gemini-cli', place)[0]).toBe('user /gemini/.gemini/settings.json');
    expect(pathsOf('zed', { ...LINUX, env: { XDG_CONFIG_HOME: 'relative' } })[0]).toBe(
      'user /home/u/.config/zed/settings.json',
    );
  });

  test('in every profile of VS Code', () => {
    const userHome = temporaryFolder();
    mkdirSync(join(userHome, '.config/Code/User/profiles/-1a2b'), { recursive: true });
    expect(pathsOf('vscode', { ...LINUX, userHome })).toContain(
      `user ${userHome}/.config/Code/User/profiles/-1a2b/mcp.json`,
    );
  });

  test.each([
    ['/x/a.toml', '', 'toml'],
    ['/x/a.json', 'x = 1', 'jsonc'],
    ['/x/a.JSONC', '', 'jsonc'],
    ['/x/config', ' \n// x\n{}', 'jsonc'],
    ['/x/config', '# x\n[mcp_servers.a]', 'toml'],
    ['/x/.mcprc', '', 'jsonc'],
  ])('or are named: %s with %j is %s', (path, text, format) => {
    verifies('F-002');
    expect(fileAt(clientOf('custom'), path, text)).toEqual({
      client: 'custom',
      scope: 'user',
      path,
      format,
    });
  });
});

test('a client is there when it has left a trace', () => {
  for (const client of CLIENTS) {
    const [userHome, project] = [temporaryFolder(), temporaryFolder()];
    const place = { ...LINUX, userHome, project };
    expect(client.detect(place)).toBe(false);
    const [file] = client.files(place);
    if (file === undefined) continue;
    mkdirSync(join(file.path, '..'), { recursive: true });
    writeFileSync(file.path, '');
    expect(client.detect(place)).toBe(true);
  }
});

test('a file that several clients read is no trace of each', () => {
  const [userHome, project] = [temporaryFolder(), temporaryFolder()];
  const place = { ...LINUX, userHome, project };
  writeFileSync(join(project, '.mcp.json'), '{}');
  expect(clientOf('claude-code').detect(place)).toBe(true);
  expect(clientOf('copilot-cli').detect(place)).toBe(false);
});

describe('servers are read', () => {
  test.each(SAMPLES)('from $path of $client', ({ client, text, found, ...file }) => {
    verifies('F-003');
    expect(
      entriesOf(client, text, file).map(({ name, transport, command, args = [] }) => [
        name,
        transport,
        command === undefined ? [] : [command, ...args],
      ]),
    ).toEqual(found);
  });

  test('under `servers` for VS Code, not under another key', () => {
    verifies('EC-STDIO-023');
    const text =
      '{ "servers": { "a": { "command": "x" } }, "mcpServers": { "b": { "command": "y" } } }';
    expect(entriesOf('vscode', text).map(({ name }) => name)).toEqual(['a']);
  });

  test('under dotted keys in the settings of VS Code, where no shim is put before them', () => {
    const settings = {
      'mcp.servers.a': { command: 'x', args: ['1'] },
      'mcp.servers.b.command': 'y',
      'mcp.servers.b.args': ['2'],
      'mcp.servers.far': { url: 'https://mcp.example' },
      mcp: { 'servers.c': { command: 'z' }, servers: { d: { command: 'w' } } },
      'mcp.servers': { e: { command: 'v' } },
      'mcp.serversOfOthers': { command: 'no' },
    };
    const text = JSON.stringify(settings);
    const file = { path: '/home/ann/.config/Code/User/settings.json' };
    const found = entriesOf('vscode', text, file);
    const views = found.map(({ name, transport, command, args = [], obstacle = '' }) => {
      return [name, transport, command, ...args, obstacle.includes('move it to mcp.json')];
    });
    expect(views.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
      ['a', 'unknown', 'x', '1', true],
      ['b', 'unknown', 'y', '2', true],
      ['c', 'unknown', 'z', true],
      ['d', 'stdio', 'w', false],
      ['e', 'stdio', 'v', false],
      ['far', 'remote', undefined, true],
    ]);
    expect(entriesOf('vscode', text, { path: '/x/mcp.json' })).toEqual([]);
  });

  test('under the overrides of Zed, where no shim is put before them', () => {
    const one = (command: string) => ({ context_servers: { [command]: { command } } });
    const settings = {
      ...one('plain'),
      ...{ linux: one('a'), stable: one('b'), windows: one('c') },
      profiles: { p: one('d'), q: { base: 'user', settings: one('e') } },
      agent: { profiles: { w: { context_servers: { plain: { tools: {} } } } } },
    };
    const found = entriesOf('zed', JSON.stringify(settings));
    expect(found.map(({ name, transport }) => [name, transport])).toEqual([
      ['plain', 'stdio'],
      ...['b', 'a', 'c', 'd', 'e'].map((name) => [name, 'unknown']),
    ]);
    expect(found.at(-1)?.path).toEqual(['profiles', 'q', 'settings', 'context_servers', 'e']);
    for (const { obstacle } of found.slice(1)) expect(obstacle).toContain('move it to');
  });

  test('as the settings of Gemini CLI have them: some left out, one as a whole command line', () => {
    const servers = { a: { command: 'x' }, b: { command: 'y' } };
    const mcp = { excluded: ['b', 7], serverCommand: 'mine --token hunter' };
    const text = JSON.stringify({ mcpServers: servers, mcp });
    const found = entriesOf('gemini-cli', text);
    expect(found.map(({ name, isDisabled, transport }) => [name, isDisabled, transport])).toEqual([
      ['a', false, 'stdio'],
      ['b', true, 'stdio'],
      ['mcp.serverCommand', false, 'unknown'],
    ]);
    expect(found[2]?.obstacle).toContain('move it to `mcpServers`');
  });

  test('by its address where Gemini CLI finds a command as well', () => {
    const servers = { a: { command: 'x', args: 7, url: 'https://mcp.example/a' } };
    const config = readAs('gemini-cli', JSON.stringify({ mcpServers: servers }));
    if (config.kind === 'failure') throw new Error(config.message);
    const { entries } = config;
    expect(entries).toMatchObject([
      { transport: 'remote', remote: { url: 'https://mcp.example/a' } },
    ]);
    const call = { program: ['/opt/node', '/opt/sub.mjs'], flags: [] };
    const { text } = clientOf('gemini-cli').plan(config, entries, call);
    expect(JSON.parse(text)).toEqual({
      mcpServers: {
        a: {
          command: '/opt/node',
          args: ['/opt/sub.mjs', 'shim', '--server-name', 'a', '--url', 'https://mcp.example/a'],
        },
      },
    });
  });

  test('and an entry with an envFile is marked', () => {
    const text =
      '{ "servers": { "a": { "command": "x", "envFile": ".env" }, "b": { "command": "y" } } }';
    expect(entriesOf('vscode', text).map(({ hasEnvFile }) => hasEnvFile)).toEqual([
      true,
      undefined,
    ]);
  });

  test('under `context_servers` for Zed, in both of its forms', () => {
    verifies('EC-STDIO-024');
    const [plain, nested] = entriesOf(
      'zed',
      '{ "context_servers": { "a": { "command": "x" }, "b": { "command": { "path": "y" } } } }',
    );
    expect(plain?.at).toEqual({
      command: ['context_servers', 'a', 'command'],
      args: ['context_servers', 'a', 'args'],
    });
    expect(nested?.at).toEqual({
      command: ['context_servers', 'b', 'command', 'path'],
      args: ['context_servers', 'b', 'command', 'args'],
    });
  });

  test('of single projects, in the file that Claude Code keeps for the user', () => {
    const text = JSON.stringify({
      projects: { '/p': { mcpServers: { a: { command: 'x' } }, disabledMcpServers: ['a', 7] } },
    });
    expect(readAs('claude-code', text)).toMatchObject({
      entries: [{ name: 'a', project: '/p', isDisabled: true }],
      switchedOff: [{ project: '/p', name: 'a' }],
    });
    expect(entriesOf('claude-code', text, { scope: 'project' })).toEqual([]);
  });

  test.each([
    [{ disabled: true }, true],
    [{ enabled: false }, true],
    [{ disabled: false, enabled: true }, false],
    [{ disabled: 'true' }, false],
    [{}, false],
  ])('%j is disabled: %s', (flags, is) => {
    const text = JSON.stringify({ mcpServers: { a: { command: 'x', ...flags } } });
    expect(entriesOf('cursor', text)[0]?.isDisabled).toBe(is);
  });

  test.each([
    [{ command: 'x', args: [] }, 'stdio'],
    [{ command: 'x', type: 'stdio', url: 'http://x' }, 'stdio'],
    [{ command: 'x', type: 'http', url: 'http://x' }, 'remote'],
    [{ command: 'x', type: 'http' }, 'unknown'],
    [{ command: '', type: 'http' }, 'remote'],
    [{ command: 'x', args: ['a', 1] }, 'unknown'],
    [{ command: 'x', args: 'a b' }, 'unknown'],
    [{ command: 'x', args: null }, 'unknown'],
    [{ command: '' }, 'unknown'],
    [{ command: ['x', 'y'] }, 'unknown'],
    [{ url: 'http://x' }, 'remote'],
    [{ httpUrl: 'http://x' }, 'remote'],
    [{ type: 'sse' }, 'remote'],
    [{}, 'unknown'],
    ['x', 'unknown'],
    [null, 'unknown'],
  ])('%j is reached by %s', (server, transport) => {
    const text = JSON.stringify({ mcpServers: { a: server } });
    expect(entriesOf('cursor', text)[0]?.transport).toBe(transport);
  });

  test('and a name that no shim can have is an obstacle', () => {
    const servers = { '': { command: 'x' }, ['n'.repeat(257)]: { command: 'x' } };
    const entries = entriesOf('cursor', JSON.stringify({ mcpServers: servers }));
    expect(entries.map(({ transport }) => transport)).toEqual(['unknown', 'unknown']);
  });

  test.each(['', ' \n', '\uFEFF', '{}', '{"mcpServers":{}}', '{"mcpServers":null}'])(
    'and there are none in %j',
    (text) => expect(entriesOf('cursor', text)).toEqual([]),
  );

  test('with nothing of their environment', () => {
    for (const { client, text, ...file } of SAMPLES) {
      const { entries } = readAs(client, text, file) as ReadConfig;
      expect(JSON.stringify(entries)).not.toContain('hunter');
    }
  });
});

test('in the home of the user, no file is there twice, and none is of a project that is not', () => {
  for (const client of CLIENTS) {
    const files = client.files({ ...LINUX, project: LINUX.userHome });
    expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
    expect(files.slice(0, 1).filter(({ scope }) => scope !== 'user')).toEqual([]);
  }
});

describe('a config that cannot be read is a problem', () => {
  test.each([
    ['cursor', '{ "mcpServers": ', /^y\.json: no valid JSON, line 1, column \d+: .*\.$/],
    ['codex', '[mcp_servers.a\n', /no valid TOML, line 1/],
    ['cursor', '[]', /^y\.json: the file is not an object\.$/],
    ['cursor', '{"mcpServers":[]}', /`mcpServers` is not a list of servers/],
  ] as const)('%s: %j', (id, text, message) => {
    const problem = readAs(id, text);
    if (problem.kind !== 'failure') throw new Error('it was read');
    expect(problem.path).toBe('/x/y.json');
    expect(problem.message).toMatch(message);
    expect(problem.fix).toMatch(/^Correct the file; .*\.$/);
  });

  test('a config that only we refuse is not called unreadable for its client', () => {
    const twice = readAs('cursor', '{"mcpServers":{"a":{"command":"x","command":"y"}}}');
    expect(twice).toMatchObject({
      message: expect.stringMatching(/^y\.json: line 1, .* twice/) as unknown,
      fix: 'Keep one of the two; which counts is unsure.',
    });
  });

  test('a file that was only taken for TOML is not called broken TOML', () => {
    const yaml = readAs('custom', 'mcpServers:\n  a: x\n', { path: '/x/y.yaml', format: 'toml' });
    expect(yaml).toMatchObject({
      message: 'y.yaml: neither JSON nor TOML, and nothing else can be changed here.',
    });
  });

  test('where a client takes no comments, neither do we', () => {
    const text = '{ // x\n "mcpServers": {} }';
    expect(readAs('claude-code', text, { format: 'json' }).kind).toBe('failure');
    expect(clientOf('claude-code').files(LINUX)[0]?.format).toBe('json');
  });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sub-clients-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
