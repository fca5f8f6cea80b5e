// A repository that brings a config whose entry starts our own shim with options that weaken it: that
// entry is not governed, and `sub import`, `wrap`, `status` and `doctor` say so.
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome, SERVER, told } from './adopt-home.ts';
import { ended, ensureBuilt, SUB } from './sub.ts';

let machine: AdoptHome;
let file = '';
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
  file = join(machine.project, '.mcp.json');
});
afterEach(() => machine.end());

const INNER = [SERVER.command, ...SERVER.args];

function shim(...flags: readonly string[]) {
  const args = [SUB, 'shim', '--server-name', 'files', ...flags, '--', ...INNER];
  return { command: process.execPath, args };
}

const LOOSE = ['--profile', 'development', '--events', 'off'];
const GOVERNED = shim();

function argsOf(name = 'files'): readonly string[] {
  const config = JSON.parse(machine.read(file)) as {
    readonly mcpServers: { readonly [name: string]: { readonly args: readonly string[] } };
  };
  return config.mcpServers[name]?.args ?? [];
}

async function stateOf(name = 'files'): Promise<unknown> {
  const { stdout } = await machine.sub('status', '--json');
  const { files } = JSON.parse(stdout) as {
    readonly files: readonly {
      readonly path: string;
      readonly servers: readonly { readonly name: string; readonly state: string }[];
    }[];
  };
  const found = files.find(({ path }) => path === file);
  return found?.servers.find((server) => server.name === name);
}

describe('an entry whose shim is loosened by its own options', () => {
  test('status and doctor name the entry, the file and the options', async () => {
    machine.servers({ files: shim(...LOOSE) }, file);
    const status = await machine.sub('status');
    expect(status.stdout).toContain(file);
    expect(status.stdout).toMatch(
      /files +not governed: it starts sub shim with --profile development, --events off/,
    );
    expect(await stateOf()).toMatchObject({
      state: 'loose',
      loose: ['--profile development', '--events off'],
    });
    const { stdout } = await machine.sub('doctor');
    expect(stdout).toContain('0 of 1 server governed, not files');
    expect(stdout).toContain(`${file}: files: sub shim with --profile development, --events off`);
    expect(stdout).toContain('run `sub import`');
  });

  test.each([
    [['--policy', '/open.yaml']],
    [['--profile=development']],
    [['--events=file:/dev/null']],
    [['--governance-endpoint', 'http://127.0.0.1:9']],
    [['--server-env', 'GITHUB_ACTOR']],
  ])('%j counts as loose', async (flags) => {
    machine.servers({ files: shim(...flags) }, file);
    expect(await stateOf()).toMatchObject({ state: 'loose' });
  });

  test('one without such options is governed, as before', async () => {
    machine.servers({ files: shim('--log-level', 'debug') }, file);
    expect(await stateOf()).toMatchObject({ state: 'governed' });
    expect((await machine.sub('import', 'claude', '--yes')).stdout).toContain('Nothing to do');
  });

  test('the profile of config.toml is the user’s own', async () => {
    machine.servers({ files: shim('--profile', 'development') }, file);
    machine.write(join(machine.subHome, 'config.toml'), 'profile = "development"\n');
    expect(await stateOf()).toMatchObject({ state: 'governed' });
  });

  test('import wraps it anew and says so; restore brings it back byte for byte', async () => {
    const before = machine.servers({ files: shim(...LOOSE), other: SERVER }, file);
    const { code, stdout, stderr } = await machine.sub('import', 'claude', '--yes');
    expect(code).toBe(0);
    expect(stderr).toContain(
      `files of ${file} starts sub shim with --profile development, --events off`,
    );
    expect(stdout).toContain('2 servers of Claude Code are governed');
    expect(argsOf()).toEqual(GOVERNED.args);
    expect(await stateOf()).toMatchObject({ state: 'governed' });
    // Again, and with another server on top: what was replaced stays replaced.
    const after = machine.read(file);
    expect((await machine.sub('import', 'claude', '--yes')).stdout).toContain('Nothing to do');
    await machine.sub('import', 'claude', '--yes', '--server', 'other', '--profile', 'development');
    expect(argsOf()).toEqual(GOVERNED.args);
    expect(after).toContain('"--server-name"');
    expect((await machine.sub('restore', 'claude', '--yes')).code).toBe(0);
    expect(machine.read(file)).toBe(before);
  });

  test('import leaves it alone when another server was asked for', async () => {
    machine.servers({ files: shim(...LOOSE), other: SERVER }, file);
    await machine.sub('import', 'claude', '--yes', '--server', 'other');
    expect(argsOf()).toEqual(shim(...LOOSE).args);
    expect(await stateOf()).toMatchObject({ state: 'loose' });
    expect(await stateOf('other')).toMatchObject({ state: 'governed' });
  });

  test('wrap replaces the shim for its session and puts the bytes back', async () => {
    const before = machine.servers({ files: shim(...LOOSE) }, file);
    const words = ['wrap', '--agent-type', 'claude-code', ...machine.agent({}, file)];
    const { stdout, stderr, code } = await ended(machine.start(words));
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain(`files in ${file} starts sub shim with --profile development`);
    const { files = [] } = told(stdout).started;
    const own = files.slice(0, files.indexOf('--'));
    expect(own).toContain('--wrap');
    expect(own).not.toContain('--events');
    expect(own).not.toContain('development');
    expect(files.slice(files.indexOf('--') + 1)).toEqual(INNER);
    expect(machine.read(file)).toBe(before);
  });
});

describe('an entry that `sub import` wrote', () => {
  test('keeps the options that the user gave', async () => {
    machine.servers({ files: SERVER }, file);
    await machine.sub('import', 'claude', '--yes', '--profile', 'development');
    expect(await stateOf()).toMatchObject({ state: 'governed', profile: 'development' });
    expect((await machine.sub('import', 'claude', '--yes')).stdout).toContain('Nothing to do');
    expect(argsOf()).toContain('development');
  });

  test('does not count once somebody has loosened it, and import tightens it again', async () => {
    const before = machine.servers({ files: SERVER }, file);
    await machine.sub('import', 'claude', '--yes');
    const text = machine.read(file).replace('"--server-name"', '"--events",\n"off",\n$&');
    machine.write(file, text);
    expect(await stateOf()).toMatchObject({ state: 'loose', loose: ['--events off'] });
    expect((await machine.sub('import', 'claude', '--yes')).code).toBe(0);
    expect(argsOf()).toEqual(GOVERNED.args);
    await machine.sub('restore', 'claude', '--yes');
    expect(JSON.parse(machine.read(file))).toEqual(JSON.parse(before));
  });

  test('stays governed without what loosens it when another server is imported', async () => {
    machine.servers({ files: SERVER, other: SERVER }, file);
    await machine.sub('import', 'claude', '--yes', '--server', 'files');
    machine.write(file, machine.read(file).replace('"--server-name"', '"--events",\n"off",\n$&'));
    await machine.sub('import', 'claude', '--yes', '--server', 'other');
    expect(argsOf()).toEqual(GOVERNED.args);
    expect(await stateOf()).toMatchObject({ state: 'governed' });
  });

  test('of another home is no record of this one', async () => {
    machine.servers({ files: SERVER }, file);
    await machine.sub('import', 'claude', '--yes', '--profile', 'development');
    const home = join(machine.home, 'elsewhere');
    const { stdout } = await machine.sub('status', '--json');
    expect(stdout).toContain('"state": "governed"');
    const there = await ended(machine.start(['status', '--json'], { SUB_HOME: home }));
    expect(there.stdout).toContain('"state": "loose"');
  });
});
