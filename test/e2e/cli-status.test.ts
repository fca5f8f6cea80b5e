// `sub status`: which servers are governed, by what, and when they were last called.
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { AdoptHome, ECHO, SECRET, SERVER, said, told } from './adopt-home.ts';
import { ended, ensureBuilt } from './sub.ts';

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

test('every server has its state: governed, not, not yet, disabled', async () => {
  verifies('SL-13');
  const off = { command: 'x', disabled: true };
  machine.servers({ files: SERVER, plain: { command: 'p' }, linear: REMOTE, off });
  await machine.sub('import', 'claude', '--yes', '--server', 'files', '--profile', 'development');
  const { code, stdout } = await machine.sub('status');
  expect(code).toBe(0);
  expect(stdout).toMatch(/files +governed, no policy: everything passes, development/);
  expect(stdout).toMatch(/plain +not governed\n/);
  expect(stdout).toMatch(/linear +not governed yet \(by address\)\n/);
  expect(stdout).toMatch(/off +not governed, disabled\n/);
  expect(stdout).not.toContain(SECRET);
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
  expect(before.stdout).toContain(join(machine.project, 'policy.yaml'));
  const run = await ended(machine.start(['run', ...machine.agent({ calls: [ECHO] })]));
  expect(told(run.stdout).outcomes).toEqual(['ok']);
  expect((await machine.sub('status')).stdout).toMatch(/last call \d+ \w+ ago/);
  const { stdout } = await machine.sub('status', '--json');
  expect(stdout).toMatch(/"last_call_at": "\d{4}-\d\d-\d\dT/);
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
            policy: join(machine.project, 'policy.yaml'),
          },
        ],
      },
    ],
    problems: [],
  });
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
