import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { grouped, isFamilyGone, readProcess, SHIM_MARK, strike, survivorsOf } from './processes.ts';
import { heard } from './testing/shim-process.ts';

/** A process whose name is made to mislead readers of /proc. */
function misnamed(name: string, env: { readonly [name: string]: string } = {}) {
  const script = `process.title = ${JSON.stringify(name)}; console.log('ready'); setInterval(() => {}, 1000)`;
  return spawn(process.execPath, ['-e', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], ...env },
  });
}

describe.skipIf(process.platform !== 'linux')('processes', () => {
  test.each([
    ['a parenthesis', ') Z 1 1 1 1'],
    ['a newline', 'a\n) Z 1 1'],
    ['blanks', 'a b c d e f'],
  ])('are read rightly when their name holds %s', async (_, name) => {
    const child = misnamed(name);
    const pid = child.pid ?? -1;
    await heard(child.stdout, 'ready');
    const facts = readProcess(pid);
    expect(facts).toMatchObject({ pid, ppid: process.pid, pgid: pid, running: true });
    const family = { pgid: pid, shimId: randomUUID(), startTicks: facts?.startTicks };
    expect(survivorsOf(family)).toEqual([pid]);
    expect(grouped(family)).toEqual([pid]);
    expect(isFamilyGone(family)).toBe(false);
    const exit = once(child, 'exit');
    strike(family, 'SIGKILL');
    expect(await exit).toEqual([null, 'SIGKILL']);
    expect(survivorsOf(family)).toEqual([]);
    expect(grouped(family)).toEqual([]);
    expect(isFamilyGone(family)).toBe(true);
  });

  test('are known by their mark outside the group, and only by the whole of it', async () => {
    const shimId = randomUUID();
    const [ours, other] = [
      misnamed('ours', { [SHIM_MARK]: shimId }),
      misnamed('other', { [SHIM_MARK]: `${shimId}0` }),
    ];
    await Promise.all([heard(ours.stdout, 'ready'), heard(other.stdout, 'ready')]);
    const family = { pgid: 2 ** 30, shimId, startTicks: readProcess(ours.pid ?? -1)?.startTicks };
    expect(survivorsOf(family)).toEqual([ours.pid]);
    expect(isFamilyGone(family)).toBe(false);
    const exits = [once(ours, 'exit'), once(other, 'exit')];
    strike(family, 'SIGTERM');
    expect(await exits[0]).toEqual([null, 'SIGTERM']);
    expect(other.exitCode).toBe(null);
    expect(isFamilyGone(family)).toBe(true);
    other.kill('SIGKILL');
    await exits[1];
  });

  test('that are gone are undefined', () => {
    expect(readProcess(2 ** 30)).toBe(undefined);
  });
});
