// One agent under the built `sub wrap`: its config is rewritten while it runs, and comes back.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { AdoptHome, ECHO, SECRET, SERVER, said, told } from './adopt-home.ts';
import { ended, ensureBuilt, ROOT, runSub, SUB } from './sub.ts';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

const TYPE = ['--agent-type', 'claude-code', '--events', 'events.jsonl'];
const DENY = `policy_id: e2e\nversion: "1"\nmode: guardrails\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules:\n  - rule_id: no-sums\n    kind: deny\n    enabled: true\n    severity: warn\n    match: { tool_name: { glob: ["get-sum"] } }\n    effect: { action: BLOCK, reason_code: NO_SUMS, message: No sums here. }\n`;

/** Nothing of a session is left, and the config is what it was. */
function expectClean(config: string, isAllowed = (_name: string) => false): void {
  expect(machine.read()).toBe(config);
  const left = [...machine.left('run'), ...machine.left('backups')];
  expect(left.filter((name) => !isAllowed(name))).toEqual([]);
}

describe('a session', () => {
  test('the agent finds its servers behind shims, and its config comes back', async () => {
    verifies('F-006', 'F-010', 'EC-STDIO-029');
    const config = machine.servers();
    const { code, stdout, stderr } = await machine.wrap(TYPE, { calls: [ECHO], exit: 5 });
    expect(code).toBe(5);
    const { outcomes, started, run } = told(stdout);
    expect(outcomes).toEqual(['ok']);
    expect(started['files']).toEqual([
      process.execPath,
      SUB,
      'shim',
      '--server-name',
      'files',
      '--wrap',
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      '--',
      SERVER.command,
      ...SERVER.args,
    ]);
    expect(stderr).toContain(`run ${run}: 1 call, 0 refused`);
    expectClean(config);
    expect(machine.running()).toEqual([]);
  });

  test('the agent has the environment and knows that it is governed', async () => {
    verifies('F-009');
    machine.servers();
    const child = machine.start(['wrap', ...TYPE, ...machine.agent()], { MARK: 'inherited' });
    const { stdout } = await ended(child);
    expect(told(stdout)).toMatchObject({ active: '1', mark: 'inherited' });
  });

  test('the terminal goes to the agent untouched', async () => {
    verifies('F-009');
    machine.servers();
    const script = 'read line; echo "heard $line"; echo "told" >&2';
    const words = ['wrap', ...TYPE, '--quiet', '--', 'sh', '-c', script];
    const child = spawn(process.execPath, [SUB, ...words], {
      cwd: machine.project,
      env: { ...process.env, ...machine.env },
    });
    child.stdin.end('a line\n');
    const { stdout, stderr } = await ended(child);
    expect(stdout).toBe('heard a line\n');
    expect(stderr).toContain('told\n');
  });

  test('the policy holds for all its servers, and the run has one trace', async () => {
    const two = { files: SERVER, more: SERVER };
    machine.servers(two);
    machine.write(join(machine.project, 'policy.yaml'), DENY);
    const calls = [ECHO, ['more', 'get-sum', { a: 1, b: 2 }] as const];
    const done = await machine.wrap([...TYPE, '--policy', 'policy.yaml'], { calls });
    expect(told(done.stdout).outcomes).toEqual(['ok', 'BLOCK']);
    const events = machine.read(join(machine.project, 'events.jsonl'));
    expect(events).toContain('"run_end"');
    expect(events.match(/"run_start"/g)).toHaveLength(1);
    expect(events).not.toContain(SECRET);
  });

  test.each([false, true])(
    'the hub may have a port of its own: bare environment %s',
    async (bare) => {
      verifies('F-008');
      const config = machine.servers();
      const port = ['--governance-port', '0'];
      const { code, stdout } = await machine.wrap([...TYPE, ...port], { calls: [ECHO], bare });
      expect(code).toBe(0);
      expect(told(stdout).outcomes).toEqual(['ok']);
      expect(told(stdout).endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expectClean(config);
    },
  );

  test('a client that hides SUB_HOME from its servers does not hide the session', async () => {
    const config = machine.servers();
    const agent = machine.agent({ calls: [ECHO], bare: true });
    const elsewhere = { SUB_HOME: join(machine.folder, 'elsewhere') };
    const { stdout } = await ended(machine.start(['wrap', ...TYPE, ...agent], elsewhere));
    const { outcomes, run } = told(stdout);
    expect(outcomes).toEqual(['ok']);
    const events = machine.read(join(machine.project, 'events.jsonl')).trimEnd().split('\n');
    expect(events.some((line) => line.includes('"tool_call_decision"'))).toBe(true);
    expect(events.every((line) => line.includes(`"run_id":"${run}"`))).toBe(true);
    expect(machine.read()).toBe(config);
    // What was made for this session alone is gone again.
    expect(existsSync(machine.subHome)).toBe(false);
  });

  test('a port that is given is the one', async () => {
    verifies('F-008');
    machine.servers();
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const address = free.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    free.close();
    await once(free, 'close');
    const { stdout } = await machine.wrap([...TYPE, '--governance-port', port]);
    expect(told(stdout).endpoint).toBe(`http://127.0.0.1:${port}`);
  });

  test.each([
    ['production', ['ok', 'refused']],
    ['development', ['ok', 'ok']],
  ])('the profile %s holds for its servers', async (profile, outcomes) => {
    verifies('F-022');
    machine.servers();
    const path = join(machine.project, 'policy.yaml');
    machine.write(path, DENY);
    const calls = [ECHO, ['files', 'get-sum', { a: 1, b: 2 }] as const];
    const words = [...TYPE, '--policy', path, '--profile', profile];
    const { stdout } = await machine.wrap(words, { calls });
    expect(told(stdout).outcomes.map((one) => (one === 'ok' ? one : 'refused'))).toEqual(outcomes);
    expect(told(stdout).started['files']).toEqual(expect.arrayContaining(['--profile', profile]));
  });

  test('a server that is added meanwhile is not governed, and is there afterwards', async () => {
    verifies('EC-STDIO-039');
    machine.servers();
    const { code, stderr } = await machine.wrap(TYPE, { adds: 'late' });
    expect(code).toBe(0);
    expect(stderr).toContain('only our changes were undone');
    expect(JSON.parse(machine.read())).toEqual({
      theme: 'dark',
      token: SECRET,
      mcpServers: { files: SERVER, late: { command: 'added', args: [] } },
    });
    const guide = readFileSync(`${ROOT}docs/guides/adopt-an-agent.md`, 'utf8');
    expect(guide).toContain('not governed until the next `sub wrap`');
  });

  test('a launcher that hands over to a window is told of import', async () => {
    const path = join(machine.home, '.cursor', 'mcp.json');
    machine.servers({ files: SERVER }, path);
    const cursor = ['--agent-type', 'cursor', '--events', 'off', '--', 'true'];
    const { stderr } = await ended(machine.start(['wrap', ...cursor]));
    expect(stderr).toContain('`sub import cursor`');
    // One without windows has just had nothing to do.
    machine.servers();
    expect((await machine.wrap(TYPE)).stderr).not.toContain('handed over');
  });

  test('both configs of the client are rewritten, and both come back', async () => {
    const user = machine.servers();
    const path = join(machine.project, '.mcp.json');
    const project = machine.servers({ own: SERVER }, path);
    const agent = machine.agent({ calls: [['own', 'echo', { message: 'x' }]] }, path);
    const { stdout } = await ended(machine.start(['wrap', ...TYPE, ...agent]));
    expect(told(stdout).outcomes).toEqual(['ok']);
    expect(told(stdout).started['own']).toContain('--wrap');
    expectClean(user);
    expect(machine.read(path)).toBe(project);
  });
});

describe('which servers', () => {
  test('also those that Claude Code keeps for the whole repository, from a folder inside of it', async () => {
    mkdirSync(join(machine.project, '.git'));
    const inside = join(machine.project, 'packages', 'a');
    mkdirSync(inside, { recursive: true });
    const top = realpathSync(machine.project);
    const projects = {
      [top]: { mcpServers: { local: SERVER } },
      '/elsewhere': { mcpServers: { other: SERVER } },
    };
    machine.write(machine.config, JSON.stringify({ mcpServers: {}, projects }, null, 2));
    const words = ['wrap', ...TYPE, '--dry-run', ...machine.agent()];
    const { code, stdout } = await runSub(words, { cwd: inside, env: machine.env });
    expect(code).toBe(0);
    expect(stdout).toContain('"local",');
    expect(stdout).toMatch(/"--wrap",\n\+ +"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",/);
    expect(stdout).not.toContain('"other",');
  });

  test.each([
    ['NODE_OPTIONS', '--require=./evil.cjs'],
    ['SUB_PROFILE', 'development'],
    ['HOME', '/elsewhere'],
  ])(
    'one that could switch its shim off by %s is refused, and not imported',
    async (name, value) => {
      const config = machine.servers({ files: SERVER, bad: { ...SERVER, env: { [name]: value } } });
      const wrapped = await machine.wrap(TYPE);
      expect(wrapped.code).toBe(2);
      expect(wrapped.stderr).toContain(
        `"bad" in ${machine.config} cannot be governed: its env sets ${name}`,
      );
      expect(machine.read()).toBe(config);
      const imported = await machine.sub('import', 'claude', '--yes');
      expect(imported.code).toBe(0);
      expect(imported.stderr).toContain(`bad is NOT governed: its env sets ${name}`);
      const { stdout } = await machine.sub('status');
      expect(stdout).toMatch(/bad\s+not governed \(its env sets/);
      expect([wrapped.stderr, imported.stdout, imported.stderr, stdout].join('')).not.toContain(
        value,
      );
    },
  );

  test('one whose parts stand in two files is refused: Codex would drop the shim', async () => {
    const user = join(machine.home, '.codex', 'config.toml');
    machine.write(user, '[mcp_servers.files]\ncommand = "node"\nargs = ["a.mjs"]\n');
    mkdirSync(join(machine.project, '.git'));
    const own = join(machine.project, '.codex', 'config.toml');
    machine.write(own, '[mcp_servers.files]\nargs = ["b.mjs"]\n');
    const { code, stderr } = await machine.wrap(['--agent-type', 'codex']);
    expect(code).toBe(2);
    expect(stderr).toContain('SUB_CLIENT_CONFIG');
    expect(stderr).toContain(own);
    const imported = await machine.sub('import', 'codex', '--dry-run');
    expect(imported.stderr).toContain('files is NOT governed');
  });
});

describe('which agent', () => {
  function script(name: string): string {
    machine.write(join(machine.project, name), '#!/bin/sh\nexit 0\n');
    chmodSync(join(machine.project, name), 0o755);
    return `./${name}`;
  }

  test('is told by the name of the command', async () => {
    verifies('F-001');
    machine.servers();
    const { code, stdout } = await machine.sub('wrap', '--dry-run', '--', script('claude'));
    expect(code).toBe(0);
    expect(stdout).toContain('.claude.json');
  });

  test('is asked for when the command does not tell', async () => {
    verifies('F-001');
    machine.servers();
    const { code, stderr } = await machine.sub('wrap', '--', script('my-agent'));
    expect(code).toBe(2);
    expect(stderr).toContain('[SUB_CLIENT_UNKNOWN]');
    for (const name of [
      'claude-code',
      'codex',
      'copilot-cli',
      'cursor',
      'gemini-cli',
      'vscode',
      'windsurf',
      'zed',
      'custom',
    ]) {
      expect(stderr).toContain(name);
    }
  });

  test('may be any, when the config is named', async () => {
    verifies('F-002');
    const path = join(machine.project, 'mcp.json');
    const config = machine.servers({ files: SERVER }, path);
    const agent = machine.agent({ calls: [ECHO] }, path);
    const words = ['wrap', '--config-path', 'mcp.json', '--events', 'off'];
    const { code, stdout } = await ended(machine.start([...words, ...agent]));
    expect(code).toBe(0);
    expect(told(stdout).outcomes).toEqual(['ok']);
    expect(machine.read(path)).toBe(config);
  });
});

describe('what it refuses, before anything is begun', () => {
  test('a client without a config, with the path it expected', async () => {
    verifies('EC-STDIO-001');
    const { code, stderr } = await machine.wrap(TYPE);
    expect(code).toBe(2);
    expect(stderr).toContain(machine.config);
  });

  test('an empty config', async () => {
    verifies('EC-STDIO-002');
    machine.write(machine.config, '');
    const { code, stderr } = await machine.wrap(TYPE);
    expect(code).toBe(2);
    expect(stderr).toContain('is empty');
    expectClean('');
  });

  test('a config that is broken', async () => {
    verifies('EC-STDIO-002');
    const text = machine.write(machine.config, '{ "mcpServers": ');
    expect((await machine.wrap(TYPE)).code).toBe(2);
    expectClean(text);
  });

  test('a config without servers', async () => {
    verifies('EC-STDIO-003');
    const config = machine.servers({});
    const { code, stderr } = await machine.wrap(TYPE);
    expect(code).toBe(2);
    expect(stderr).toContain('No MCP servers found in config');
    expectClean(config);
  });

  test('a config whose servers are all switched off', async () => {
    verifies('EC-STDIO-004');
    const config = machine.servers({ files: { ...SERVER, disabled: true } });
    const { code, stderr } = await machine.wrap(TYPE);
    expect(code).toBe(2);
    expect(stderr).toContain('All MCP servers are disabled');
    expectClean(config);
  });

  test('a config that is governed already, with the two ways out', async () => {
    verifies('EC-STDIO-034');
    machine.servers();
    await machine.sub('import', 'claude', '--yes');
    const governed = machine.read();
    const { code, stderr } = await machine.wrap(TYPE);
    expect(code).toBe(2);
    expect(stderr).toContain('[SUB_CLIENT_GOVERNED]');
    expect(stderr).toContain('sub run -- ');
    expect(stderr).toContain('sub restore claude-code');
    expect(machine.read()).toBe(governed);
  });

  test('a config that is governed in part, with the way that governs all of it', async () => {
    const { command, args } = SERVER;
    const shim = (name: string, ...flags: readonly string[]) => ({
      command: process.execPath,
      args: [SUB, 'shim', '--server-name', name, ...flags, '--', command, ...args],
    });
    const servers = {
      clean: shim('clean'),
      plain: SERVER,
      loose: shim('loose', '--events', 'off'),
    };
    machine.servers(servers);
    const before = await machine.wrap(TYPE);
    expect(before.code).toBe(2);
    expect(before.stderr).toContain('[SUB_CLIENT_GOVERNED]');
    expect(before.stderr).toContain('plain, loose are not governed');
    expect(before.stderr).toContain('Govern them first: `sub import claude-code`, then start');
    expect((await machine.sub('import', 'claude-code', '--yes')).code).toBe(0);
    const { files } = JSON.parse((await machine.sub('status', '--json')).stdout) as {
      readonly files: readonly { readonly servers: readonly { readonly state: string }[] }[];
    };
    expect(files[0]?.servers.map(({ state }) => state)).toEqual([
      'governed',
      'governed',
      'governed',
    ]);
    expect((await machine.wrap(TYPE)).stderr).not.toContain('are not governed');
  });

  test('a variable that is not set and has no default', async () => {
    verifies('EC-STDIO-026');
    const config = machine.servers({ files: { ...SERVER, env: { A: '${NOT_SET_ANYWHERE}' } } });
    const { code, stderr } = await machine.wrap(TYPE);
    expect(code).toBe(2);
    expect(stderr).toContain('NOT_SET_ANYWHERE');
    expectClean(config);
  });

  test('a port that is taken, by its number', async () => {
    verifies('EC-STDIO-040');
    const config = machine.servers();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const { code, stderr } = await machine.wrap([...TYPE, '--governance-port', port]);
    taken.close();
    expect(code).toBe(2);
    expect(stderr).toContain(port);
    expect(stderr).toContain('[SUB_HUB_LISTEN]');
    expectClean(config);
  });

  test.each(['x', '65536', '-1'])('a port that is none: %s', async (port) => {
    machine.servers();
    const { code, stderr } = await machine.wrap([...TYPE, `--governance-port=${port}`]);
    expect(code).toBe(2);
    expect(stderr).toContain('[SUB_USAGE]');
  });

  test('a dry run prints the difference and starts nothing', async () => {
    verifies('EC-STDIO-038', 'F-007a');
    const config = machine.servers();
    const { code, stdout } = await machine.wrap([...TYPE, '--dry-run']);
    expect(code).toBe(0);
    // The id of a session is no secret: it is shown as it would be written.
    expect(stdout).toMatch(/^\+ +"--wrap",\n\+ +"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",$/m);
    expect(stdout).not.toContain('agent: ');
    expect(stdout).not.toContain(SECRET);
    expectClean(config);
  });
});

describe('an agent that does not start', () => {
  test('because there is no such command', async () => {
    verifies('EC-STDIO-008');
    const config = machine.servers();
    const { code, stderr } = await machine.sub('wrap', ...TYPE, '--', 'no-such-agent');
    expect(code).toBe(127);
    expect(stderr).toContain('[SUB_AGENT_START]');
    expectClean(config);
  });

  test('because the system does not execute it: the config was rewritten, and comes back', async () => {
    verifies('EC-STDIO-008');
    const config = machine.servers();
    machine.write(join(machine.project, 'odd'), '#!/no/such/interpreter\n');
    chmodSync(join(machine.project, 'odd'), 0o755);
    const { code, stderr } = await machine.sub('wrap', ...TYPE, '--', './odd');
    expect(code).toBe(127);
    expect(stderr).toContain('[SUB_AGENT_START]');
    expectClean(config);
  });
});

describe('a config that cannot be written', () => {
  test('stays as it was, and the agent is not started', async () => {
    verifies('EC-STDIO-007');
    const long = { files: { ...SERVER, note: 'x'.repeat(100_000) } };
    const config = machine.servers(long);
    const limit = 'ulimit -f 64; exec "$0" "$@"';
    const words = [SUB, 'wrap', ...TYPE, ...machine.agent()];
    const child = spawn('sh', ['-c', limit, process.execPath, ...words], {
      cwd: machine.project,
      env: { ...process.env, ...machine.env },
    });
    child.stdin.end();
    const { code, stdout, stderr } = await ended(child);
    expect(code).toBe(2);
    expect(stderr).toContain('[SUB_CLIENT_WRITE]');
    expect(stdout).toBe('');
    expectClean(config);
  });

  test('when it is gone at the end, the backup is named and how to put it back', async () => {
    verifies('F-020');
    const config = machine.servers();
    const remove = ['--', 'rm', machine.config];
    const { code, stderr } = await machine.sub('wrap', ...TYPE, ...remove);
    expect(code).toBe(2);
    expect(stderr).toContain('[SUB_CLIENT_RESTORE]');
    const backup = /cp (\S+original) /.exec(stderr)?.[1] ?? '';
    expect(readFileSync(backup, 'utf8')).toBe(config);
  });
});

describe('how a session ends', () => {
  test('the agent is killed: its servers end and the config comes back', async () => {
    verifies('EC-STDIO-011', 'F-020');
    const config = machine.servers();
    const plan = { calls: [ECHO], signal: 'SIGKILL' } as const;
    const { code } = await machine.wrap(TYPE, plan);
    expect(code).toBe(137);
    expectClean(config);
    expect(machine.running()).toEqual([]);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('%s: agent and servers end, the config comes back', async (signal, code) => {
    verifies('EC-STDIO-012', 'EC-STDIO-013', 'F-019', 'F-020');
    const config = machine.servers({ files: SERVER, more: SERVER });
    const child = machine.start([
      'wrap',
      ...TYPE,
      ...machine.agent({ calls: [ECHO], linger: true }),
    ]);
    const end = ended(child);
    await said(child, 'agent: ');
    expect(machine.read()).not.toBe(config);
    child.kill(signal);
    expect((await end).code).toBe(code);
    expectClean(config);
    expect(machine.running()).toEqual([]);
  });

  test('an agent that does not listen is killed after the grace time', async () => {
    verifies('EC-STDIO-012', 'F-019');
    const config = machine.servers();
    const agent = machine.agent({ calls: [ECHO], linger: true, deaf: true });
    const child = machine.start(['wrap', ...TYPE, ...agent], { SUB_GRACE_MS: '200' });
    const end = ended(child);
    await said(child, 'agent: ');
    child.kill('SIGTERM');
    expect((await end).code).toBe(137);
    expectClean(config);
    expect(machine.running()).toEqual([]);
  });

  test('a second one on the same config is refused while the first runs', async () => {
    verifies('EC-STDIO-005', 'NFR-003.5');
    const config = machine.servers();
    const first = machine.start(['wrap', ...TYPE, ...machine.agent({ linger: true })]);
    const end = ended(first);
    await said(first, 'agent: ');
    const rewritten = machine.read();
    const second = await machine.wrap(TYPE);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain('[SUB_CLIENT_LOCKED]');
    expect(second.stderr).toContain(String(first.pid));
    expect(second.stderr).toContain('`sub import claude-code`, then start each with `sub run -- ');
    for (const words of [
      ['unwrap'],
      ['import', 'claude', '--yes'],
      ['restore', 'claude', '--yes'],
    ]) {
      const refused = await machine.sub(...words);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(String(first.pid));
    }
    expect(machine.read()).toBe(rewritten);
    first.kill('SIGTERM');
    await end;
    expectClean(config);
  });

  test('two at once: one of them runs, and nothing is damaged', async () => {
    verifies('NFR-003.5');
    const config = machine.servers();
    const ends = [11, 12, 13].map((exit) => machine.wrap(TYPE, { exit }));
    const codes = (await Promise.all(ends)).map(({ code }) => code);
    expect(codes.some((code) => code !== 2)).toBe(true);
    expectClean(config);
  });

  test('--no-restore leaves a config that works, until unwrap takes it back', async () => {
    const config = machine.servers();
    const { code } = await machine.wrap([...TYPE, '--no-restore'], { calls: [ECHO] });
    expect(code).toBe(0);
    expect(machine.read()).toContain('--wrap');
    // Nobody takes it back unasked.
    expect((await machine.sub('status')).stderr).toBe('');
    expect(machine.read()).toContain('--wrap');
    const again = await ended(
      machine.start(['run', '--events', 'off', ...machine.agent({ calls: [ECHO] })]),
    );
    expect(told(again.stdout).outcomes).toEqual(['ok']);
    const unwrapped = await machine.sub('unwrap');
    expect(unwrapped).toMatchObject({ code: 0, stdout: `${machine.config} was put back.\n` });
    expectClean(config);
    expect((await machine.sub('unwrap')).stdout).toBe('Nothing to do.\n');
  });

  test('a shim that is killed takes neither the others nor the agent along', async () => {
    verifies('NFR-003.1');
    const config = machine.servers({ files: SERVER, more: SERVER });
    const calls = [['more', 'echo', { message: 'x' }] as const, ECHO];
    const { code, stdout } = await machine.wrap(TYPE, { kills: 'files', calls });
    expect(code).toBe(0);
    const [other, own] = told(stdout).outcomes;
    expect(other).toBe('ok');
    expect(own).not.toBe('ok');
    // Who is killed while it writes pins leaves its claim to them, which the next one removes.
    expectClean(config, (name) => /^pins\..*\.lock$/.test(name));
    expect(machine.running()).toEqual([]);
  });

  test('a server that dies leaves its shim to answer, and the others alone', async () => {
    verifies('NFR-003.1');
    // Answers the handshake, and then nothing any more.
    const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (method === 'tools/call') process.exit(9);
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } };
      if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });`;
    const dies = { command: process.execPath, args: ['-e', script] };
    const config = machine.servers({ files: SERVER, dies });
    const calls = [['dies', 'any', {}] as const, ECHO];
    const { code, stdout } = await machine.wrap(TYPE, { calls });
    expect(code).toBe(0);
    const [dead, alive] = told(stdout).outcomes;
    expect(dead).toMatch(/^failed: /);
    expect(alive).toBe('ok');
    expectClean(config);
  });
});
