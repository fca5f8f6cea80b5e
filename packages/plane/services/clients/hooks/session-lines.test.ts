import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isSince, versionOf } from './client-version.ts';
import { trustedHash } from './codex-hooks.ts';
import { hookCommand, readHookCommand } from './hook-command.ts';
import { endOfProgram, startsAgent } from './hooked-line.ts';
import { hooksOf } from './registry.ts';
import type { HookedLine } from './types.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-hooks-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const CALL = { program: ['/opt/no de/node', '/opt/sub.mjs'], homes: { HOME: "/home/o'neil" } };

function started(
  client: string,
  command: readonly string[],
  { version, env = {} }: { version?: string | undefined; env?: object } = { version: '2.1.325' },
): HookedLine | Failure {
  const place = {
    platform: 'linux' as const,
    userHome: join(folder, 'home'),
    project: folder,
    env: { ...env },
  };
  const http = { url: 'http://127.0.0.1:4711/hooks/claude-code', token: 'sesame' };
  const start = { http, socket: '/run/s.sock', call: CALL, command, place, version };
  const line = hooksOf(client)?.session?.(start);
  if (line === undefined) throw new Error('no hooks');
  return line;
}

function lineOf(...args: Parameters<typeof started>): HookedLine {
  const line = started(...args);
  if (isFailure(line)) throw new Error(line.message);
  return line;
}

describe('Claude Code', () => {
  interface Settings {
    readonly hooks: { readonly [event: string]: readonly Group[] };
    readonly env: { readonly [name: string]: string };
    readonly allowedHttpHookUrls: readonly string[];
    readonly httpHookAllowedEnvVars: readonly string[];
  }
  interface Group {
    readonly hooks: readonly { readonly type: string; readonly command?: string }[];
  }

  function settingsOf({ command }: HookedLine): Settings {
    const at = command.indexOf('--settings');
    expect(command.lastIndexOf('--settings')).toBe(at);
    return JSON.parse(command[at + 1] ?? '') as Settings;
  }

  test('gets hooks over HTTP that block when they fail, with the token in the environment alone', () => {
    const line = lineOf('claude-code', ['claude', '-p', 'go']);
    const settings = settingsOf(line);
    expect(line.command).toEqual(['claude', '--settings', line.command[2], '-p', 'go']);
    expect(settings.hooks['PreToolUse']).toEqual([
      {
        matcher: '*',
        hooks: [
          {
            type: 'http',
            url: 'http://127.0.0.1:4711/hooks/claude-code',
            headers: { Authorization: 'Bearer $SUB_HOOK_TOKEN' },
            allowedEnvVars: ['SUB_HOOK_TOKEN'],
            timeout: 86_400,
            onFailure: 'block',
          },
        ],
      },
    ]);
    expect(settings.hooks['SessionStart']?.[0]?.hooks[0]?.type).toBe('command');
    expect(settings).toMatchObject({
      disableAllHooks: false,
      disableSkillShellExecution: true,
      allowedHttpHookUrls: ['http://127.0.0.1:4711/hooks/claude-code'],
      httpHookAllowedEnvVars: ['SUB_HOOK_TOKEN'],
      env: { NO_PROXY: '127.0.0.1,localhost', CLAUDE_CODE_SIMPLE: '' },
    });
    expect(line.command.join(' ')).not.toContain('sesame');
    expect(line.env['SUB_HOOK_TOKEN']).toBe('sesame');
  });

  test.each(['2.1.197', undefined])('of version %s gets commands', (version) => {
    const { hooks } = settingsOf(lineOf('claude-code', ['claude'], { version }));
    for (const [group] of Object.values(hooks)) {
      const read = readHookCommand(group?.hooks[0]?.command);
      expect(read).toEqual({ client: 'claude-code', program: CALL.program, socket: '/run/s.sock' });
    }
  });

  test('keeps the settings that it was given, behind a runner, too', () => {
    const given = {
      model: 'opus',
      env: { A: 'b', NO_PROXY: 'intern' },
      hooks: { PreToolUse: [{ hooks: [{ type: 'http', url: 'https://hooks.example/x' }] }] },
    };
    writeFileSync(join(folder, 'mine.json'), JSON.stringify(given));
    for (const words of [
      ['--settings', JSON.stringify(given)],
      [`--settings=${JSON.stringify(given)}`],
      ['--settings', 'mine.json'],
      ['--settings', '{}', '--settings', 'mine.json'],
    ]) {
      const runner = ['npx', '-y', '@anthropic-ai/claude-code@2.1.325'];
      const line = lineOf('claude-code', [...runner, ...words, '--', '--settings']);
      const settings = settingsOf({ ...line, command: line.command.slice(0, -2) });
      expect(line.command.slice(0, 3)).toEqual(runner);
      expect(line.command.slice(5)).toEqual(['--', '--settings']);
      expect(settings).toMatchObject({ model: 'opus', env: { A: 'b' } });
      expect(settings.env['NO_PROXY']).toBe('intern,127.0.0.1,localhost');
      expect(settings.hooks['PreToolUse']).toHaveLength(2);
      expect(settings.hooks['PreToolUse']?.[0]).toEqual(given.hooks.PreToolUse[0]);
      expect(settings.allowedHttpHookUrls).toContain('https://hooks.example/x');
    }
  });

  test('may send the hooks of its own files on, unless these say where to', () => {
    const hooks = { Stop: [{ hooks: [{ type: 'http', url: 'u', allowedEnvVars: ['V'] }] }] };
    mkdirSync(join(folder, 'home', '.claude'), { recursive: true });
    const path = join(folder, 'home', '.claude', 'settings.json');
    writeFileSync(path, JSON.stringify({ hooks }));
    const open = settingsOf(lineOf('claude-code', ['claude']));
    expect(open.allowedHttpHookUrls).toHaveLength(2);
    expect(open.httpHookAllowedEnvVars).toEqual(['V', 'SUB_HOOK_TOKEN']);
    writeFileSync(path, JSON.stringify({ hooks, allowedHttpHookUrls: ['elsewhere'] }));
    expect(settingsOf(lineOf('claude-code', ['claude'])).allowedHttpHookUrls).toHaveLength(1);
  });

  test.each([
    ['--bare', ['claude', '--bare'], {}],
    ['--safe-mode', ['claude', '-p', 'x', '--safe-mode'], {}],
    ['CLAUDE_CODE_SIMPLE', ['claude'], { CLAUDE_CODE_SIMPLE: '1' }],
    ['disableAllHooks', ['claude', '--settings', '{"disableAllHooks":true}'], {}],
    ['cannot be read', ['claude', '--settings', 'none.json'], {}],
    ['cannot be read', ['claude', '--settings={'], {}],
  ])('is not started with %s', (what, command, env) => {
    const line = started('claude-code', command, { env });
    if (!isFailure(line)) throw new Error('it was started');
    expect(line.code).toBe('SUB_CLIENT_HOOKS');
    expect(line.message).toContain(what);
  });

  test('is started with words behind `--` that look like flags', () => {
    const { command } = lineOf('claude-code', ['claude', '-p', '--', '--bare']);
    expect(command.slice(-3)).toEqual(['-p', '--', '--bare']);
  });
});

describe('Codex', () => {
  function settingsOf({ command }: HookedLine): { readonly [key: string]: unknown } {
    const set = command.flatMap((word, at) => (command[at - 1] === '-c' ? [word] : []));
    return Object.fromEntries(
      set.map((one) => {
        const at = one.indexOf('=');
        return [one.slice(0, at), parse(`x = ${one.slice(at + 1)}`)['x']];
      }),
    );
  }

  test('gets commands that are trusted for this session', () => {
    const line = lineOf('codex', ['codex', 'exec', 'go']);
    const set = settingsOf(line);
    expect(line.command.slice(-2)).toEqual(['exec', 'go']);
    expect(set['features.hooks']).toBe(true);
    expect(set['features.unified_exec_tty']).toBe(false);
    const text = hookCommand('codex', CALL, '/run/s.sock');
    expect(set['hooks.PreToolUse']).toEqual([
      { matcher: '*', hooks: [{ type: 'command', command: text, timeout: 86_400 }] },
    ]);
    expect(set['hooks.state']).toMatchObject({
      '/<session-flags>/config.toml:pre_tool_use:0:0': {
        trusted_hash: trustedHash('PreToolUse', text),
      },
    });
  });

  test('keeps the hooks that it was given, before ours', () => {
    const theirs = `hooks.PreToolUse=[{hooks=[{type="command",command="mine"}]}]`;
    for (const words of [['-c', theirs], [`-c${theirs}`], [`--config=${theirs}`]]) {
      const set = settingsOf(lineOf('codex', ['codex', ...words, 'exec', '-c', 'model="x"']));
      expect(set['hooks.PreToolUse']).toHaveLength(2);
      expect(set['model']).toBe('x');
      expect(set['hooks.state']).toHaveProperty([
        '/<session-flags>/config.toml:pre_tool_use:1:0',
        'trusted_hash',
      ]);
    }
  });

  test.each([
    ['--disable hooks'],
    ['--disable=hooks'],
    ['-c features.hooks=false'],
    ['-c features.codex_hooks=false'],
    ['exec --config features={hooks=false}'],
    ['-c features={}'],
    ['-c features.unified_exec_tty=true'],
    ['--enable unified_exec_tty'],
    ['exec --enable=unified_exec_tty'],
    ['-c hooks={}'],
    ['-c hooks.state={}'],
    ['-c hooks.PreToolUse=1'],
    ['-c hooks.PreToolUse=[1979-05-27]'],
  ])('is not started with %s', (words) => {
    const line = started('codex', ['codex', ...words.split(' ')]);
    expect(isFailure(line) && line.code).toBe('SUB_CLIENT_HOOKS');
    expect(isFailure(line) && line.fix).toContain('--no-hooks');
  });

  test.each([
    ...['--disable web_search', '-c features.hooks=true', 'exec -- --disable hooks'],
    ...['--disable unified_exec_tty', '-c features.unified_exec_tty=false', '--enable web_search'],
  ])('is started with %s', (words) => {
    expect(lineOf('codex', ['codex', ...words.split(' ')]).command).toContain('-c');
  });

  // From `hooks/list` of the app-server of Codex 0.166.
  test.each([
    ['SessionStart', 'd6f3bf14700c2952fbe8d85f440e97fb5b2bceb2b4ae224287ffd47c05d067fa'],
    ['UserPromptSubmit', 'c58630f96b94b703172494d164f52827741fc898f4b3d283f66546002db24577'],
    ['PreToolUse', '3c977a1e5e90990f592e3aa7749a80294b3b56b6614d70c600180e58dd31e5d7'],
    ['PostToolUse', '8c54e015230d02f040f3789e51012c225d6b6905ef6c6fadc4c011f35f49b856'],
    ['SessionEnd', '8b7ee55a98d26202c05f5636c95fb5c1b71e364315120dfdbd9f4c4443b17bb9'],
  ])('gives %s the hash that Codex gives it', (event, hash) => {
    expect(trustedHash(event, '/bin/x hook')).toBe(`sha256:${hash}`);
  });
});

describe('Copilot CLI', () => {
  test('gets a plugin for this session alone', () => {
    const line = lineOf('copilot-cli', ['npx', '@github/copilot', '-p', 'go']);
    const plugin = ['--plugin-dir', '/run/s.plugin'];
    expect(line.command).toEqual(['npx', '@github/copilot', ...plugin, '-p', 'go']);
    expect(line.folder?.path).toBe('/run/s.plugin');
    const { 'plugin.json': manifest = '', 'hooks.json': text = '' } = line.folder?.files ?? {};
    expect(JSON.parse(manifest)).toMatchObject({ name: 'subluminal', hooks: 'hooks.json' });
    const bash = hookCommand('copilot-cli', CALL, '/run/s.sock');
    expect(JSON.parse(text)).toMatchObject({
      version: 1,
      hooks: { PreToolUse: [{ type: 'command', bash, timeoutSec: 86_400 }] },
    });
  });

  test.each([
    ['', 'settings.json', '{"disableAllHooks": true}'],
    ['', 'settings.local.json', '{ // mine\n"disableAllHooks": true}'],
    ['', 'settings.json', '{'],
    ['sub', 'settings.json', '{"disableAllHooks": true}'],
  ])('is not started in %j where %s has %s', (at, name, text) => {
    const path = join(folder, at, '.github', 'copilot', name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    const line = started('copilot-cli', ['copilot', ...(at === '' ? [] : ['-C', at])]);
    expect(isFailure(line) && line.message).toContain(path);
  });

  test('is started where the project has other settings', () => {
    const path = join(folder, '.github', 'copilot', 'settings.json');
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, '{"disableAllHooks": false}');
    expect(lineOf('copilot-cli', ['copilot']).command).toContain('--plugin-dir');
  });
});

test.each([
  [['claude', '-p'], 1],
  [['npx', '-y', '@anthropic-ai/claude-code', '-p'], 3],
  [['npx', '--package', '@anthropic-ai/claude-code', 'claude', '-p'], 4],
  [['npx', '--package=@anthropic-ai/claude-code', 'claude', '-p'], 3],
] as const)('%j names its program with %i words', (command, count) => {
  expect(endOfProgram(command)).toBe(count);
});

test('the command of a hook reaches a shell as it was meant, with nothing of the environment', () => {
  const script = join(folder, 'sub.mjs');
  writeFileSync(script, 'console.log(JSON.stringify([process.argv.slice(2), process.env]));');
  const homes = { HOME: "/o'neil $x", SUB_HOME: '/a b' };
  const text = hookCommand('codex', { program: [process.execPath, script], homes }, "/s'o ck");
  const env = { NODE_OPTIONS: '--require=/none', HOME: '/evil', SUB_PROFILE: 'development' };
  const told: unknown = JSON.parse(execFileSync('/bin/sh', ['-c', text], { env }).toString());
  expect(told).toEqual([
    ['hook', 'codex', '--socket', "/s'o ck"],
    { ...homes, PATH: '/usr/local/bin:/usr/bin:/bin' },
  ]);
  expect(readHookCommand(text)).toEqual({
    client: 'codex',
    program: [process.execPath, script],
    socket: "/s'o ck",
  });
});

test.each([
  ['ends as it should', 'process.exit(0)', 0, /^$/],
  ['refuses', "process.stderr.write('No.'); process.exit(2)", 2, /^No\.$/],
  ['crashes', 'process.exit(1)', 2, /could not decide \(exit code 1\)/],
  ['is killed', "process.kill(process.pid, 'SIGKILL')", 2, /could not decide \(exit code 137\)/],
  ['is not there', undefined, 2, /could not decide/],
])('a hook that %s', (_, code, status, stderr) => {
  const script = join(folder, 'ends.mjs');
  rmSync(script, { force: true });
  if (code !== undefined) writeFileSync(script, code);
  const text = hookCommand('codex', { program: [process.execPath, script], homes: {} });
  const ended = spawnSync('/bin/sh', ['-c', text]);
  expect(ended.status).toBe(status);
  expect(ended.stderr.toString()).toMatch(stderr);
});

test('a hook names no variable that its client would put a value in place of', () => {
  const text = hookCommand('gemini-cli', { program: ['/opt/node', '/opt/sub.mjs'], homes: {} });
  expect(text).not.toMatch(/\$(?:\w|\{)/);
});

test.each(['', 'sub', 'sub status', 'echo sub hooks', 'my-sub hook codex', 'sub hook', 7])(
  '%j is no hook of ours',
  (command) => {
    expect(readHookCommand(command)).toBeUndefined();
  },
);

test('a version is found in the package of a program, or by asking it', () => {
  const bin = join(folder, 'lib', 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'claude'), '#!/bin/sh\necho "2.1.7 (Claude Code)"', { mode: 0o755 });
  const packageName = '@anthropic-ai/claude-code';
  const program = { command: ['claude'], packageName, env: { PATH: bin }, cwd: folder };
  const manifest = (name: string) =>
    writeFileSync(
      join(folder, 'lib', 'package.json'),
      JSON.stringify({ name, version: '2.1.300' }),
    );
  expect(versionOf(program)).toBe('2.1.7');
  manifest('somebody-elses');
  expect(versionOf(program)).toBe('2.1.7');
  expect(versionOf({ ...program, mayAsk: false })).toBeUndefined();
  manifest('@anthropic-ai/claude-code-linux-x64');
  expect(versionOf(program)).toBe('2.1.300');
  manifest(packageName);
  expect(versionOf(program)).toBe('2.1.300');
  expect(versionOf({ ...program, command: ['npx', 'claude@2.0.1'] })).toBe('2.0.1');
  expect(versionOf({ ...program, command: ['npx', 'claude'] })).toBeUndefined();
  expect(versionOf({ ...program, command: ['none'] })).toBeUndefined();
});

test.each([
  ['2.1.295', true],
  ['2.1.294', false],
  ['2.2.0', true],
  ['10.0.0', true],
  ['1.9.999', false],
])('%s is since 2.1.295: %s', (version, expected) => {
  expect(isSince(version, '2.1.295')).toBe(expected);
});

describe('a command that starts no agent', () => {
  test.each([
    ['claude --version', false],
    ['npx @anthropic-ai/claude-code --help', false],
    ['codex mcp list', false],
    ['claude mcp serve', true],
    ['claude -p doctor', true],
    ['claude doctor --verbose', true],
    ['claude', true],
  ])('%s: %s', (line, expected) => {
    expect(startsAgent(line.split(' '))).toBe(expected);
  });
});

describe('what could answer a question of Claude Code in place of its user', () => {
  const answererIn = (text: string | undefined): string | undefined => {
    const path = join(folder, 'settings.json');
    if (text !== undefined) writeFileSync(path, text);
    return hooksOf('claude-code')?.answererIn?.([join(folder, 'none.json'), path]);
  };

  test.each([
    ['a hook', '{"hooks":{"PermissionRequest":[{"hooks":[]}]}}'],
    ['a plugin', '{"enabledPlugins":{"a@b":true}}'],
    ['settings that cannot be read', '{"hooks":'],
  ])('%s is found', (_what, text) => {
    expect(answererIn(text)).toBe(join(folder, 'settings.json'));
  });

  test.each([
    ['no file', undefined],
    ['other hooks', '{"hooks":{"PreToolUse":[{"hooks":[]}],"PermissionRequest":[]}}'],
    ['lists of what is allowed', '{"permissions":{"allow":["Bash"]},"enabledPlugins":{}}'],
  ])('%s cannot', (_what, text) => {
    expect(answererIn(text)).toBeUndefined();
  });
});
