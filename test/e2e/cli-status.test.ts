// `sub status`: which servers are governed, by what, and when they were last called.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { AdoptHome, ECHO, SECRET, SERVER, said, told } from './adopt-home.ts';
import { askSub } from './ask-sub.ts';
import { ended, ensureBuilt, SUB } from './sub.ts';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

const REMOTE = { type: 'http', url: 'https://mcp.example.com' };

test('a machine without clients', async () => {
  const { code, stdout, stderr } = await machine.sub('status');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('No agent client');
});

test('every server has its state: governed, not, disabled', async () => {
  verifies('SL-13');
  const off = { command: 'x', disabled: true };
  machine.servers({ files: SERVER, plain: { command: 'p' }, linear: REMOTE, off });
  await machine.sub('import', 'claude', '--yes', '--server', 'files', '--profile', 'development');
  const { code, stdout } = await machine.sub('status');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /files +governed, policy found where it runs \(from here: none, .*\), development/,
  );
  expect(stdout).toMatch(/plain +not governed\n/);
  expect(stdout).toMatch(/linear +not governed\n/);
  expect(stdout).toMatch(/off +not governed, disabled\n/);
  expect(stdout).not.toContain(SECRET);
});

test('the facts about a server are wrapped to the terminal', async () => {
  machine.servers();
  await machine.sub('import', 'claude', '--yes');
  const env = { ...machine.env, COLUMNS: '60' };
  const { stdout } = await askSub(['status'], { cwd: machine.project, env });
  expect(stdout).toMatch(/\n {2}files {2}governed, policy .*\n {9}\S/);
  const lines = stdout.split('\n').filter((line) => line.startsWith('  '));
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
});

test('the policy of the project is named, and the last call that the ledger has', async () => {
  machine.servers();
  machine.write(
    join(machine.project, 'policy.yaml'),
    'policy_id: p\nversion: "1"\nmode: observe\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules: []\n',
  );
  await machine.sub('import', 'claude', '--yes');
  const before = await machine.sub('status');
  expect(before.stdout).toContain('no call seen');
  expect(before.stdout).toContain(
    `policy found where it runs (from here: ${join(machine.project, 'policy.yaml')})`,
  );
  const run = await ended(machine.start(['run', ...machine.agent({ calls: [ECHO] })]));
  expect(told(run.stdout).outcomes).toEqual(['ok']);
  expect((await machine.sub('status')).stdout).toMatch(
    /last call \d+ \w+ ago: echo by \w+ \(run [0-9a-f-]{36}\)\n/,
  );
  const { stdout } = await machine.sub('status', '--json');
  expect(stdout).toMatch(/"last_call_at": "\d{4}-\d\d-\d\dT/);
  expect(stdout).toMatch(
    /"last_call": \{\s+"tool": "echo",\s+"run_id": "[0-9a-f-]{36}",\s+"client": "\w+",\s+"other_servers": 0/,
  );
  expect(JSON.parse(stdout)).toMatchObject({
    files: [
      {
        client: 'claude-code',
        path: machine.config,
        change: 'import',
        servers: [
          {
            name: 'files',
            state: 'governed',
            disabled: false,
            server_name: 'files',
            policy: null,
            policy_source: 'start',
            policies: [{ path: join(machine.project, 'policy.yaml'), role: 'untrusted' }],
            policy_from_here: join(machine.project, 'policy.yaml'),
            is_this_sub: true,
            cannot_start: null,
          },
        ],
      },
    ],
    problems: [],
  });
});

test('two clients with one server name: only the one that has called has a last call', async () => {
  machine.servers();
  const codex = join(machine.home, '.codex', 'config.toml');
  const { command, args } = SERVER;
  machine.write(
    codex,
    `[mcp_servers.files]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\n`,
  );
  for (const client of ['claude', 'codex']) await machine.sub('import', client, '--yes');
  const call = (client: string) =>
    ended(machine.start(['run', ...machine.agent({ calls: [ECHO] })], { SUB_CLIENT: client }));
  const lines = async () => {
    const { stdout } = await machine.sub('status');
    return stdout.split('\n').filter((line) => line.startsWith('  files'));
  };
  expect(told((await call('codex')).stdout).outcomes).toEqual(['ok']);
  const [ofClaude, ofCodex] = await lines();
  expect(ofClaude).toMatch(/, no call seen$/);
  expect(ofCodex).toMatch(/, last call .* ago: echo by codex \(run [0-9a-f-]{36}\)$/);
  // Nothing tells of whom a call is that names no client.
  await call('unknown');
  for (const line of await lines()) {
    expect(line).toMatch(
      / by unknown \(run [0-9a-f-]{36}\), of this or 1 other server of this name$/,
    );
  }
  await call('claude');
  expect((await lines())[0]).toMatch(/ by claude \(run [0-9a-f-]{36}\)$/);
});

const OBSERVE =
  'policy_id: p\nversion: "1"\nmode: observe\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules: []\n';

test('an entry of another project has the policy of that project, not of this one', async () => {
  const other = join(machine.home, 'other');
  machine.write(join(other, 'policy.yaml'), OBSERVE);
  machine.write(join(machine.project, 'policy.yaml'), OBSERVE);
  const projects = { [other]: { mcpServers: { far: SERVER } } };
  machine.write(machine.config, JSON.stringify({ mcpServers: {}, projects }));
  machine.servers({ own: SERVER }, join(machine.project, '.mcp.json'));
  await machine.sub('import', 'claude', '--yes');
  const { stdout } = await machine.sub('status');
  expect(stdout).toMatch(new RegExp(`far .*policy ${join(other, 'policy.yaml')},`));
  expect(stdout).toMatch(new RegExp(`own .*policy ${join(machine.project, 'policy.yaml')},`));
});

test('a server that cannot start is said to be one', async () => {
  machine.servers();
  const policy = join(machine.project, 'p.yaml');
  machine.write(policy, OBSERVE);
  await machine.sub('import', 'claude', '--yes', '--policy', 'p.yaml');
  const fine = machine.read();
  rmSync(policy);
  const gone = await machine.sub('status');
  expect(gone.stdout).toContain(`governed, but cannot start: its policy ${policy} is gone`);
  machine.write(policy, 'rules: [');
  const bad = await machine.sub('status', '--json');
  expect(bad.stdout).toContain(`"cannot_start": "its policy ${policy} is broken"`);
  machine.write(policy, OBSERVE);
  const moved = join(machine.folder, 'sub.mjs');
  machine.write(machine.config, fine.replace(SUB, moved));
  expect((await machine.sub('status')).stdout).toContain(`cannot start: ${moved} is gone`);
  machine.write(moved, '');
  const other = (await machine.sub('status')).stdout;
  expect(other).toContain('started by another sub, not counted');
  expect(other).toContain(moved);
});

test('a script or a package of the project that is called sub governs nothing', async () => {
  const words = ['sub', 'shim', '--server-name', 'x', '--', 'real-server'];
  machine.servers({
    script: { command: 'npm', args: ['run', '--silent', ...words] },
    package: { command: 'npx', args: words },
    bare: { command: 'sub', args: words.slice(1), env: { PATH: './evil' } },
  });
  const before = machine.read();
  const { stdout } = await machine.sub('status');
  expect(stdout.match(/started by another sub, not counted/g)).toHaveLength(3);
  const { files } = JSON.parse((await machine.sub('status', '--json')).stdout) as {
    files: { servers: { state: string; is_this_sub: boolean }[] }[];
  };
  const states = files[0]?.servers.map(({ state, is_this_sub: isThis }) => [state, isThis]);
  expect(states).toEqual([1, 2, 3].map(() => ['foreign', false]));
  expect((await machine.sub('doctor')).stdout).toContain('0 of 3 servers governed, not counted');
  // No shim is put before a shim all the same.
  verifies('EC-STDIO-034');
  await machine.sub('import', 'claude', '--yes');
  expect(machine.read()).toBe(before);
});

test('a policy here that is broken is told of a server that may run elsewhere', async () => {
  machine.servers();
  await machine.sub('import', 'claude', '--yes');
  const policy = join(machine.project, 'policy.yaml');
  machine.write(policy, 'rules: [');
  const { stdout } = await machine.sub('status');
  expect(stdout).toContain(`where it runs (from here: its policy ${policy} is broken)`);
});

test('an entry whose shim records nothing is not governed', async () => {
  const args = [SUB, 'shim', '--server-name', 'files', '--events', 'off', '--', 'x'];
  machine.servers({ files: { command: process.execPath, args } });
  expect((await machine.sub('status')).stdout).toContain('sub shim with --events off');
});

test('a config that was named by its path is listed, here and by doctor', async () => {
  const path = join(machine.folder, 'elsewhere', 'mcp.json');
  machine.servers({ files: SERVER }, path);
  await machine.sub('import', '--config-path', path, '--yes');
  const { stdout } = await machine.sub('status');
  expect(stdout).toContain(`Other client: ${path}`);
  expect(stdout).toMatch(/files +governed/);
  expect((await machine.sub('doctor')).stdout).toContain(`Other client, ${path}: 1 of 1 server`);
  rmSync(path);
  expect((await machine.sub('status')).stderr).toContain(`${path} is gone`);
});

test('a session that runs is named by its process', async () => {
  machine.servers();
  const words = ['wrap', '--agent-type', 'claude-code', '--events', 'off'];
  const child = machine.start([...words, ...machine.agent({ linger: true })]);
  const end = ended(child);
  await said(child, 'agent: ');
  const { stdout, stderr } = await machine.sub('status');
  expect(stdout).toContain(`rewritten by \`sub wrap\` (process ${child.pid})`);
  expect(stderr).toBe('');
  child.kill('SIGTERM');
  await end;
});

test('a config that cannot be read is told beside the others', async () => {
  machine.servers();
  machine.write(join(machine.home, '.cursor', 'mcp.json'), '{');
  const { code, stdout, stderr } = await machine.sub('status');
  expect(code).toBe(0);
  expect(stderr).toContain('.cursor/mcp.json');
  expect(stdout).toContain('Claude Code: ');
});

test('names that act on a terminal are made harmless', async () => {
  machine.servers({ '\u001b]0;boo\u0007': SERVER });
  expect((await machine.sub('status')).stdout).not.toMatch(/[\u001b\u0007]/);
});
