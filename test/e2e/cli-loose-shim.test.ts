// A repository that brings a config whose entry starts our own shim with options that weaken it: that
// entry is not governed, and `sub import`, `wrap`, `status` and `doctor` say so.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome, ECHO, SERVER, told } from './adopt-home.ts';
import { ended, ensureBuilt, ROOT, SUB } from './sub.ts';

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
    expect(stdout).toMatch(
      /files +to be governed, in place of a shim with --profile development, --events off\n/,
    );
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

describe('a loosened entry in a hosted run', () => {
  const DENY = `policy_id: e2e
version: "1"
mode: guardrails
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: no-echo
    kind: deny
    enabled: true
    severity: warn
    match: { tool_name: { glob: [echo] } }
    effect: { action: BLOCK, reason_code: NO, message: Not here. }
`;
  const OPEN = DENY.replace('glob: [echo]', 'glob: [nothing]');

  beforeEach(() => {
    machine.write(join(machine.home, 'strict.yaml'), DENY);
    machine.write(join(machine.project, 'open.yaml'), OPEN);
  });

  /** The agent of a run calls `echo` of its only server, and says what its server said. */
  function run(...flags: readonly string[]) {
    const [, node = '', script = '', plan = ''] = machine.agent({ calls: [ECHO] }, file);
    const seen = JSON.stringify({ ...(JSON.parse(plan) as object), stderr: 'inherit' });
    const policy = ['--policy', join(machine.home, 'strict.yaml')];
    const words = ['run', '--events', 'events', ...policy, ...flags, '--', node, script, seen];
    return ended(machine.start(words));
  }

  const events = () => machine.read(join(machine.project, 'events'));

  test.each([
    [['--profile', 'development', '--events', 'off'], '--profile development, --events off'],
    [['--events=off'], '--events=off'],
    [['--policy', 'open.yaml'], '--policy open.yaml'],
    [['--governance-endpoint', 'http://127.0.0.1:9'], '--governance-endpoint http://127.0.0.1:9'],
    [['--server-env', 'GITHUB_ACTOR'], '--server-env GITHUB_ACTOR'],
  ])('in production a shim with %j does not start', async (flags, shown) => {
    machine.servers({ files: shim(...flags) }, file);
    const done = await run();
    expect(done.stdout).not.toContain('"ok"');
    expect(done.code).not.toBe(0);
    const words = `files starts sub shim with ${shown}, and no \`sub import\` of this home wrote that`;
    // Once by the shim, for the client; once by `sub run`, for the person.
    expect(done.stderr.split(words)).toHaveLength(3);
    expect(done.stderr).toContain('Put a shim without them in its place (`sub import`)');
    expect(done.stderr).toContain('[SUB_SHIM_LOOSE]');
    expect(done.stderr).toContain('sub: the server files did not start: ');
    expect(events()).toContain(words);
  });

  test.each([
    [{ SUB_PROFILE: 'development' }, /would be in development/],
    [{ SUB_POLICY_RELOAD: 'any' }, /policy\.reload/],
    [{ SUB_EVENTS: 'off' }, /SUB_EVENTS/],
    [{ SUB_PINS_MODE: 'off' }, /SUB_PINS_MODE/],
    [{ SUB_MANIFESTS: '/nowhere' }, /SUB_MANIFESTS/],
  ])('in production a shim with %j in its entry does not start', async (env, words) => {
    machine.servers({ files: { ...shim(), env } }, file);
    const done = await run();
    expect(done.stdout).not.toContain('"ok"');
    expect(done.stderr).toMatch(words);
    expect(done.stderr).toContain('sub: the server files did not start: ');
  });

  test('another home than that of the run does not start', async () => {
    machine.servers({ files: { ...shim(), env: { SUB_HOME: machine.folder } } }, file);
    const done = await run();
    expect(done.stdout).not.toContain('"ok"');
    expect(done.stderr).toContain('SUB_HOME');
  });

  test('one whose options are those of the run starts', async () => {
    const strict = join(machine.home, 'strict.yaml');
    machine.servers({ files: shim('--policy', strict, '--profile', 'production') }, file);
    expect(told((await run()).stdout).outcomes).toEqual(['BLOCK']);
  });

  test('what `sub import` wrote starts, and loses that once it is changed', async () => {
    machine.servers({ files: SERVER }, file);
    const open = join(machine.project, 'open.yaml');
    await machine.sub('import', 'claude', '--yes', '--profile', 'development', '--policy', open);
    expect(told((await run()).stdout).outcomes).toEqual(['ok']);
    machine.write(file, machine.read(file).replace('"--server-name"', '"--events",\n"off",\n$&'));
    const done = await run();
    expect(done.stderr).toContain('files starts sub shim with --events off');
    expect(done.stdout).not.toContain('"ok"');
  });

  test('what `sub import` wrote for one server frees no other', async () => {
    machine.servers({ files: SERVER }, file);
    await machine.sub('import', 'claude', '--yes', '--profile', 'development');
    const other = [...SERVER.args, 'another'];
    const args = argsOf().map((word) => (word === 'stdio' ? other.join(' ') : word));
    machine.servers({ files: { command: process.execPath, args } }, file);
    expect((await run()).stdout).not.toContain('"ok"');
  });

  test('what `sub import` wrote starts with its variables expanded by the client', async () => {
    const [script = '', ...rest] = SERVER.args;
    machine.servers({ files: { ...SERVER, args: ['${SMALL_SERVER}', ...rest] } }, file);
    await machine.sub('import', 'claude', '--yes', '--profile', 'development');
    machine.write(file, machine.read(file).replace('${SMALL_SERVER}', script));
    expect(told((await run()).stdout).outcomes).toEqual(['ok']);
  });

  test('in development it is said, and the server starts', async () => {
    machine.servers({ files: shim('--events', 'off') }, file);
    const done = await run('--profile', 'development');
    expect(told(done.stdout).outcomes).toEqual(['ok']);
    expect(done.stderr).toContain('files starts sub shim with --events off');
    expect(done.stderr).toContain('sub: the server files is looser than the run: ');
  });

  test('a loosened server that the command line of the agent brings does not start in `sub wrap`', async () => {
    const beside = join(machine.project, 'beside.json');
    machine.servers({ files: shim(...LOOSE) }, beside);
    machine.servers({ other: SERVER }, file);
    const policy = ['--policy', join(machine.home, 'strict.yaml'), '--events', 'events'];
    const agent = machine.agent({ calls: [ECHO] }, beside);
    const done = await ended(
      machine.start(['wrap', '--agent-type', 'claude-code', ...policy, ...agent]),
    );
    expect(done.stdout).not.toContain('"ok"');
    expect(done.stderr).toContain('sub: the server files did not start: ');
  });
});

test('a shim of another sub comes under governance by the commands that are told', async () => {
  const args = ['--no-install', 'sub', 'shim', '--server-name', 'files', '--', ...INNER];
  machine.servers({ files: { command: 'npx', args } }, file);
  const commands = ['sub restore claude-code', 'sub import claude-code'];
  for (const words of [['doctor'], ['import', 'claude', '--dry-run']]) {
    const { stdout, stderr } = await machine.sub(...words);
    for (const command of commands) expect(stdout + stderr).toContain(`\`${command}\``);
  }
  for (const command of commands) {
    const [, ...words] = command.split(' ');
    expect((await machine.sub(...words, '--yes')).code).toBe(0);
  }
  expect(await stateOf()).toMatchObject({ state: 'governed' });
});

test('the tutorial “govern a server” ends in a server that status and doctor count', async () => {
  const tutorial = readFileSync(`${ROOT}docs/start/govern-a-server.md`, 'utf8');
  const [, policy = ''] = /```yaml\n([^]*?)```/.exec(tutorial) ?? [];
  const [, config = ''] = /```json\n([^]*?)```/.exec(tutorial) ?? [];
  const [, command = ''] = /^\$ sub (import .*)$/m.exec(tutorial) ?? [];
  machine.write(join(machine.project, 'policy.yaml'), policy);
  machine.write(file, config);
  expect((await machine.sub(...command.split(' '), '--yes')).code).toBe(0);
  expect(await stateOf()).toMatchObject({ state: 'governed' });
  expect((await machine.sub('doctor')).stdout).toContain('1 of 1 server governed');
  expect((await machine.sub('status')).stdout).toMatch(/files +governed, policy .*policy\.yaml/);
});
