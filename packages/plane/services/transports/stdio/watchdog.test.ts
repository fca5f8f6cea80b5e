import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { readProcess, SHIM_MARK } from './processes.ts';
import { heard, isRunning, nothingLeft, startShim, until } from './testing/shim-process.ts';
import { SCRIPT, SHELL } from './watchdog.ts';

/** A process in a group of its own that ignores EOF and SIGTERM. */
function bystander(env: { readonly [name: string]: string } = {}) {
  const script = "trap '' TERM; echo ready; while :; do sleep 600; done";
  const child = spawn(SHELL, ['-c', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], ...env },
  });
  onTestFinished(() => {
    // Unreaped or running, the number is still its own; afterwards it must not be used.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGKILL');
    }
  });
  return child;
}

interface Alarm {
  readonly pgid: number;
  readonly born: number;
  readonly shimId: string;
  readonly how?: 'ps';
}

/** Runs the guard's script and raises the alarm at once; resolves with its exit code. */
function alarm({ pgid, born, shimId, how }: Alarm): Promise<number> {
  const args = [String(pgid), String(born), `${SHIM_MARK}=${shimId}`, '1', '1', how ?? ''];
  const guard = spawn(SHELL, ['-c', SCRIPT, 'guard', ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  });
  // Without /proc it reads the leader's birth itself, before the alarm.
  if (how === 'ps') guard.stdin.write('term\n');
  guard.stdin.end();
  return new Promise((resolve) => guard.once('exit', (code) => resolve(code ?? -1)));
}

const bornOf = (pid: number): number => readProcess(pid)?.startTicks ?? -1;

describe.skipIf(process.platform !== 'linux')('guard', () => {
  test('kills the group that it was given', async () => {
    const target = bystander();
    const pgid = target.pid ?? -1;
    await heard(target.stdout, 'ready');
    const exit = once(target, 'exit');
    expect(await alarm({ pgid, born: bornOf(pgid), shimId: randomUUID() })).toBe(0);
    expect(await exit).toEqual([null, 'SIGKILL']);
  });

  test('is not misled by the name that a process gives itself', async () => {
    const script = "process.title='a\\n) Z 1 1';console.log('ready');setInterval(()=>{},1000)";
    const target = spawn(process.execPath, ['-e', script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const pgid = target.pid ?? -1;
    await heard(target.stdout, 'ready');
    const exit = once(target, 'exit');
    expect(await alarm({ pgid, born: bornOf(pgid), shimId: randomUUID() })).toBe(0);
    expect(await exit).toEqual([null, 'SIGTERM']);
  });

  test('kills the group by ps where there is no /proc', async () => {
    const target = bystander();
    const pgid = target.pid ?? -1;
    await heard(target.stdout, 'ready');
    const exit = once(target, 'exit');
    expect(await alarm({ pgid, born: -1, shimId: randomUUID(), how: 'ps' })).toBe(0);
    expect(await exit).toEqual([null, 'SIGKILL']);
  });

  test('spares a group whose number belongs to another process by now', async () => {
    const stranger = bystander();
    const pgid = stranger.pid ?? -1;
    await heard(stranger.stdout, 'ready');
    expect(await alarm({ pgid, born: bornOf(pgid) - 1, shimId: randomUUID() })).toBe(0);
    expect(isRunning(pgid)).toBe(true);
  });

  test('kills processes that carry the mark even when the group is gone', async () => {
    verifies('T-A1.5');
    const shimId = randomUUID();
    const escaped = bystander({ [SHIM_MARK]: shimId });
    const stranger = bystander({ [SHIM_MARK]: randomUUID() });
    await Promise.all([heard(escaped.stdout, 'ready'), heard(stranger.stdout, 'ready')]);
    const [pgid, exit] = [stranger.pid ?? -1, once(escaped, 'exit')];
    expect(await alarm({ pgid, born: bornOf(pgid) - 1, shimId })).toBe(0);
    expect(await exit).toEqual([null, 'SIGKILL']);
    expect(isRunning(pgid)).toBe(true);
  });

  test('is a small process without the mark, the pipes or the folder of the shim', async () => {
    const shim = await startShim({ server: ['ready'] });
    await heard(shim.child.stdout, 'ready');
    const { guardPid } = await shim.fact('up');
    const pss = await until(() => {
      const [, kilobytes] =
        /^Pss: +(\d+)/m.exec(readFileSync(`/proc/${guardPid}/smaps_rollup`, 'utf8')) ?? [];
      return readFileSync(`/proc/${guardPid}/comm`, 'utf8').startsWith('node')
        ? undefined
        : Number(kilobytes);
    }, 'the guard to be a shell');
    expect(pss).toBeLessThan(1024);
    expect(readFileSync(`/proc/${guardPid}/environ`, 'utf8')).not.toContain(SHIM_MARK);
    shim.child.stdin?.end();
    await shim.exit;
    await nothingLeft(shim);
  });

  test('is there as soon as the server is, before anybody watches over that', async () => {
    const server = ['ignore-eof', 'ready'];
    const shim = await startShim({ server, early: 'SIGKILL', graceMs: 200, termMs: 200 });
    expect(await shim.exit).toBe('SIGKILL');
    await nothingLeft(shim);
  });

  test('is replaced when it is killed', async () => {
    const shim = await startShim({ server: ['ignore-eof', 'ready'], graceMs: 200, termMs: 200 });
    await heard(shim.child.stdout, 'ready');
    const { guardPid, shimPid } = await shim.fact('up');
    process.kill(guardPid, 'SIGKILL');
    const another = await until(() => guardOf(shimPid, guardPid), 'another guard');
    expect(another).not.toBe(guardPid);
    shim.child.kill('SIGKILL');
    await shim.exit;
    await nothingLeft(shim);
    await until(() => (isRunning(another) ? undefined : true), 'the end of the second guard');
  });
});

/** The shim's child that runs the guard's script, other than the one named. */
function guardOf(shimPid: number, exceptPid: number): number | undefined {
  const children = readFileSync(`/proc/${shimPid}/task/${shimPid}/children`, 'utf8');
  return children
    .trim()
    .split(' ')
    .map(Number)
    .filter((pid) => pid !== exceptPid)
    .find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('subluminal-guard'));
}
