// What a session leaves ungoverned, and what is left when others have been at the config.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome, ECHO, SERVER, said, told } from './adopt-home.ts';
import { askSub } from './ask-sub.ts';
import { ended, ensureBuilt } from './sub.ts';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

const TYPE = ['--agent-type', 'claude-code', '--events', 'off', '--quiet'];
const KEPT = /(\S+\.original-\w+)\./;

describe('servers of the command line', () => {
  const CALLS = [
    ['claude-code', ['--mcp-config', 'extra.json'], '--mcp-config extra.json'],
    ['claude-code', ['--mcp-config=extra.json'], '--mcp-config extra.json'],
    ['claude-code', ['--mcp-config', 'a.json', 'b.json'], '--mcp-config b.json'],
    ['codex', ['-c', 'mcp_servers.far.command="x"'], '-c mcp_servers.far'],
    ['codex', ['exec', '--config=mcp_servers.far.command="x"'], '-c mcp_servers.far'],
  ] as const;

  function prepare(): void {
    machine.servers();
    machine.write(join(machine.home, '.codex', 'config.toml'), codexServer('files'));
  }

  function codexServer(name: string): string {
    return `[mcp_servers.${name}]\ncommand = "node"\nargs = ["a.mjs"]\n`;
  }

  test.each(CALLS)('%s %j are named', async (type, words, name) => {
    prepare();
    const agent = ['--', 'true', ...words];
    const { code, stderr } = await machine.sub('wrap', '--agent-type', type, '--dry-run', ...agent);
    expect(code).toBe(0);
    expect(stderr).toContain('NOT governed');
    expect(stderr).toContain(name);
  });

  test.each(CALLS)('%s %j end a strict run before it begins', async (type, words, name) => {
    prepare();
    const agent = ['--', 'touch', 'started', ...words];
    const { code, stderr } = await machine.sub('wrap', '--agent-type', type, '--strict', ...agent);
    expect(code).toBe(2);
    expect(stderr).toContain('[SUB_CLIENT_CONFIG]');
    expect(stderr).toContain(name);
    expect(existsSync(join(machine.project, 'started'))).toBe(false);
  });

  test('those of a profile of Codex that has servers are named, others are not', async () => {
    prepare();
    machine.write(join(machine.home, '.codex', 'more.config.toml'), codexServer('more'));
    machine.write(join(machine.home, '.codex', 'plain.config.toml'), 'model = "x"\n');
    const words = ['wrap', '--agent-type', 'codex', '--dry-run', '--', 'true'];
    const more = await machine.sub(...words, '-p', 'more');
    expect(more.stderr).toContain('more.config.toml');
    expect((await machine.sub(...words, '-p', 'plain')).stderr).toBe('');
  });

  test('a config that is written on the command line is not shown', async () => {
    prepare();
    const config = '{"mcpServers":{"x":{"env":{"KEY":"hunter2"}}}}';
    const words = ['--dry-run', '--', 'true', '--mcp-config', config];
    const { stderr } = await machine.sub('wrap', ...TYPE, ...words);
    expect(stderr).toContain('--mcp-config {…}');
    expect(stderr).not.toContain('hunter2');
  });

  test('a file that is wrapped itself is governed, also in a strict run', async () => {
    const path = join(machine.project, 'extra.json');
    machine.servers({ files: SERVER }, path);
    const own = ['--config-path', 'extra.json', '--strict', '--dry-run'];
    const agent = ['--', 'true', '--mcp-config', 'extra.json', '--strict-mcp-config'];
    const { code, stderr } = await machine.sub('wrap', ...TYPE, ...own, ...agent);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

test.each([
  ['claude-code', 'claude'],
  ['claude', 'claude'],
  ['codex', 'codex'],
])('the type %s is the client %s for its servers', async (type, client) => {
  machine.servers();
  machine.write(join(machine.home, '.codex', 'config.toml'), '[mcp_servers.a]\ncommand = "a"\n');
  const agent = ['--', 'sh', '-c', 'echo client=$SUB_CLIENT'];
  const words = ['wrap', '--agent-type', type, '--events', 'off', ...agent];
  const child = machine.start(words, { SUB_CLIENT: 'headless' });
  expect((await ended(child)).stdout).toBe(`client=${client}\n`);
  const given = await machine.sub('wrap', '--client', 'custom', ...words.slice(1));
  expect(given.stdout).toBe('client=custom\n');
});

describe('a config that another program empties', () => {
  test('in a session: what is missing is told, and the original kept', async () => {
    const config = machine.servers();
    const empty = ['--', 'sh', '-c', `echo '{}' > '${machine.config}'`];
    const { stderr } = await machine.sub('wrap', ...TYPE, ...empty);
    expect(stderr).toContain(`${machine.config} does not have files any more`);
    expect(readFileSync(KEPT.exec(stderr)?.[1] ?? '', 'utf8')).toBe(config);
    expect(machine.read()).toBe('{}\n');
  });

  test('after an import: restore says so, and does not say that it put it back', async () => {
    const config = machine.servers();
    await machine.sub('import', 'claude', '--yes');
    machine.write(machine.config, '{}');
    const { stdout, stderr } = await machine.sub('restore', 'claude', '--yes');
    expect(stdout).not.toContain('put back');
    expect(stdout).toContain('cannot come back: files');
    expect(readFileSync(KEPT.exec(stderr)?.[1] ?? '', 'utf8')).toBe(config);
    expect((await machine.sub('restore', 'claude', '--yes')).stdout).toBe('Nothing to do.\n');
    expect(readFileSync(KEPT.exec(stderr)?.[1] ?? '', 'utf8')).toBe(config);
  });
});

test('a config that was deleted on purpose is told of until it is forgotten', async () => {
  const config = machine.servers();
  await machine.sub('import', 'claude', '--yes');
  rmSync(machine.config);
  const nagging = await machine.sub('restore', 'claude', '--yes');
  expect(nagging.code).toBe(2);
  expect(nagging.stderr).toContain('sub restore claude-code --forget');
  const { code, stdout } = await machine.sub('restore', 'claude', '--forget');
  expect(code).toBe(0);
  expect(readFileSync(KEPT.exec(stdout)?.[1] ?? '', 'utf8')).toBe(config);
  const after = await machine.sub('restore', 'claude', '--yes');
  expect(after).toMatchObject({ code: 0, stdout: 'Nothing to do.\n', stderr: '' });
});

test('forgetting leaves a config alone that is there', async () => {
  const config = machine.servers();
  await machine.sub('import', 'claude', '--yes');
  expect((await machine.sub('restore', '--all', '--forget')).stdout).toBe('Nothing to do.\n');
  await machine.sub('restore', 'claude', '--yes');
  expect(machine.read()).toBe(config);
});

describe('unwrap', () => {
  test('says which configs of other projects are left, and does not end well', async () => {
    const path = join(machine.project, '.mcp.json');
    const own = machine.servers({ own: SERVER }, path);
    const agent = machine.agent({}, path);
    await ended(machine.start(['wrap', ...TYPE, '--no-restore', ...agent]));
    const elsewhere = join(machine.folder, 'elsewhere');
    mkdirSync(elsewhere);
    const there = { cwd: elsewhere, env: machine.env };
    const left = await askSub(['unwrap'], there);
    expect(left.code).toBe(1);
    expect(left.stderr).toContain(path);
    expect(left.stdout).toBe('');
    expect((await askSub(['unwrap', '--all'], there)).code).toBe(0);
    expect(machine.read(path)).toBe(own);
  });

  test('says what to do with the shims of a session that has another home', async () => {
    machine.servers();
    const home = { SUB_HOME: join(machine.folder, 'other-home') };
    const words = ['wrap', ...TYPE, '--no-restore', ...machine.agent({ calls: [ECHO] })];
    const { stdout } = await ended(machine.start(words, home));
    expect(told(stdout).outcomes).toEqual(['ok']);
    const { code, stdout: json, stderr } = await machine.sub('unwrap', '--json');
    expect(code).toBe(1);
    expect(stderr).toContain('sub restore claude-code');
    expect(JSON.parse(json)).toMatchObject({
      restored: [],
      unknown: [{ path: machine.config, client: 'claude-code' }],
    });
  });

  test('right after a kill puts the config back itself, and names an agent that goes on', async () => {
    const config = machine.servers();
    const words = ['wrap', ...TYPE, ...machine.agent({ linger: true })];
    const child = machine.start(words);
    await said(child, 'agent: ');
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    const { code, stdout, stderr } = await machine.sub('unwrap', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ restored: [machine.config], problems: [] });
    expect(stderr).toMatch(/^sub: Its agent \(process \d+\) still runs/);
    expect(machine.read()).toBe(config);
  });
});
