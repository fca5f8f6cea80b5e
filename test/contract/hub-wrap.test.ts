// `sub shim --wrap ID`: a server of a session of `sub wrap`, while it lives and afterwards.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { expectStillWorks, hangUp, QUICK, startRig, startServed } from './driver.ts';
import { realHub } from './hubs.ts';

beforeAll(ensureBuilt);

const FLAGS = ['--wrap', 'w-1'];

/** When a process has started, as the wrap file tells it. */
function startOf(pid: number): string {
  const ticks = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19];
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
  return `${ticks}-${boot}`;
}

interface Session {
  readonly home: string;
  readonly path: string;
}

function session(env: object, pid = process.pid): Session {
  const home = mkdtempSync(join(tmpdir(), 'sub-wrap-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const path = join(home, 'run', 'wrap-w-1.json');
  mkdirSync(join(home, 'run'), { mode: 0o700 });
  const owner = { pid, start: startOf(pid) };
  writeFileSync(path, JSON.stringify({ wrap_id: 'w-1', run_id: 'run-1', owner, env }), {
    mode: 0o600,
  });
  return { home, path };
}

async function somebody(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  return child;
}

it('is part of the run of its session, whatever its own environment says', async () => {
  const { env, hub, joined } = await realHub();
  const { home } = session(env);
  const stale = { SUB_RUN_ID: 'old', SUB_GOVERNANCE_ENDPOINT: 'unix:/nonexistent/hub.sock' };
  const rig = await startServed({ env: { ...QUICK, SUB_HOME: home, ...stale }, flags: FLAGS });
  await joined();
  await expectStillWorks(rig);
  await hangUp(rig);
  expect(rig.stderr()).toBe('');
  expect(hub.shims.list()).toMatchObject([{ serverId: 'puppet', state: 'left' }]);
  expect(rig.events().every(({ run_id }) => run_id === 'run-1')).toBe(true);
});

it('is governed like an imported one when the session is over, and says so', async () => {
  const owner = await somebody();
  const nobody = { SUB_RUN_ID: 'run-1', SUB_GOVERNANCE_ENDPOINT: 'unix:/nonexistent/hub.sock' };
  const { home } = session(nobody, owner.pid);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  const rig = await startServed({ env: { ...QUICK, SUB_HOME: home }, flags: FLAGS });
  await expectStillWorks(rig);
  await hangUp(rig);
  expect(rig.stderr()).toMatch(/^sub: the `sub wrap` .* is over; .*`sub unwrap`.*\n$/);
  expect(rig.events().some(({ run_id }) => run_id === 'run-1')).toBe(false);
});

it('says the same when nothing is left of the session', async () => {
  const rig = await startServed({ env: QUICK, flags: FLAGS });
  await expectStillWorks(rig);
  await hangUp(rig);
  expect(rig.stderr()).toContain('is over');
});

it('does not start in production when nobody can tell, and goes on in development', async () => {
  const { home, path } = session({ SUB_RUN_ID: 'run-1' });
  chmodSync(path, 0o644);
  const env = { ...QUICK, SUB_HOME: home };
  const rig = await startRig({ env, flags: FLAGS });
  expect((await rig.exit).code).toBe(2);
  await rig.silent;
  expect(rig.stderr()).toContain(path);
  const developing = await startServed({ env, flags: FLAGS, profile: 'development' });
  await expectStillWorks(developing);
  await hangUp(developing);
  expect(developing.stderr()).toContain(path);
});

it.each(['', '../x', 'a/b', 'A', 'x'.repeat(65), '.'])(
  'a shim refuses %j as the id of a session',
  async (id) => {
    const rig = await startRig({ flags: ['--wrap', id] });
    expect((await rig.exit).code).toBe(2);
    await rig.silent;
    expect(rig.stderr()).toMatch(/--wrap takes an id .*\[SUB_USAGE\]/);
  },
);
