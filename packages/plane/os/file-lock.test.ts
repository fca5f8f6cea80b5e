import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bundleProgram } from '../services/sink/testing/program.ts';
import { changeFiles, takeLock, takeLockBlocking } from './file-lock.ts';
import { ownIdentity } from './process-identity.ts';
import { thisSystem } from './system.ts';

let folder: string;
let programs: string;
beforeEach(() => {
  programs = mkdtempSync(join(tmpdir(), 'sub-lock-programs-'));
  folder = mkdtempSync(join(tmpdir(), 'sub-lock-'));
});
afterEach(() => {
  for (const one of [folder, programs]) rmSync(one, { recursive: true, force: true });
});

const pins = () => ({ folder, name: 'pins' });
const claim = (pid: number, start: string, space = '') =>
  writeFileSync(join(folder, `pins.${randomUUID()}.${pid}.${start}${space}.lock`), '');

it('a lock is held by one at a time, and nobody waits for ever', async () => {
  const first = await takeLock(pins());
  expect(await takeLock(pins(), 20)).toMatchObject({ kind: 'held', pid: process.pid });
  expect(takeLockBlocking(pins())).toMatchObject({ kind: 'held', pid: process.pid });
  expect(readdirSync(folder)).toHaveLength(1);
  if (first.kind === 'locked') first.release();
  expect(await takeLock(pins(), 20)).toMatchObject({ kind: 'locked' });
});

it('a lock is released when the work throws', async () => {
  const locked = {
    home: folder,
    name: 'pins',
    files: ['pins.json'],
    what: 'the pins',
    busyCode: 'SUB_PINS_BUSY',
    waitMs: 20,
  } as const;
  const failing = changeFiles(locked, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  expect(await changeFiles(locked, () => 'done')).toBe('done');
  expect(readdirSync(join(folder, 'run'))).toEqual([]);
});

it('locks of different names do not stand in the way of each other', async () => {
  await takeLock(pins());
  expect(await takeLock({ folder, name: 'vault' }, 20)).toMatchObject({ kind: 'locked' });
});

it('a lock is taken over from a process that has ended', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  claim(pid, '12345');
  expect(await takeLock(pins(), 20)).toMatchObject({ kind: 'locked' });
  expect(readdirSync(folder)).toHaveLength(1);
});

it.runIf(process.platform === 'linux')(
  'a lock is taken over from a process whose pid another process has now',
  async () => {
    claim(process.pid, '1');
    expect(await takeLock(pins(), 20)).toMatchObject({ kind: 'locked' });
  },
);

it('a process that does not know when it started holds the lock while its pid lives', async () => {
  claim(process.pid, 'unknown');
  expect(await takeLock(pins(), 20)).toMatchObject({ kind: 'held', pid: process.pid });
});

it('a process of another container of this boot counts as alive', async () => {
  const system = { ...thisSystem(), space: () => '0123abcd-1' };
  claim(999_999_999, '1', '.0123abcd-2');
  const taken = takeLockBlocking({ ...pins(), system });
  expect(taken).toMatchObject({ kind: 'held', isElsewhere: true });
});

it('a claim of an earlier boot is removed', async () => {
  const system = { ...thisSystem(), space: () => '0123abcd-1' };
  claim(999_999_999, '1', '.eeeeeeee-2');
  expect(takeLockBlocking({ ...pins(), system })).toMatchObject({ kind: 'locked' });
});

it('files that are no claims do not hold a lock', async () => {
  for (const name of ['ledger.sock', 'vault.x.lock', 'pins.lock']) {
    writeFileSync(join(folder, name), '');
  }
  expect(await takeLock(pins(), 20)).toMatchObject({ kind: 'locked' });
  expect(readdirSync(folder)).toHaveLength(4);
});

it('a lock of a killed process is taken over', async () => {
  const program = `import { takeLock } from '../../os/file-lock.ts';
await takeLock({ folder: ${JSON.stringify(folder)}, name: 'pins' });
process.stdout.write('locked'); setInterval(() => {}, 1000);`;
  const bundle = await bundleProgram(programs, program);
  const child = spawn(process.execPath, [bundle], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(await takeLock(pins(), 20)).toMatchObject({ kind: 'held', pid: child.pid });
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(await takeLock(pins(), 20)).toMatchObject({ kind: 'locked' });
});

it('many processes that count under the lock lose no step', async () => {
  const counter = join(folder, 'counter');
  writeFileSync(counter, '0');
  const program = `import { readFileSync, writeFileSync } from 'node:fs';
import { changeFiles } from '../../os/file-lock.ts';
const locked = { home: ${JSON.stringify(folder)}, name: 'count', files: ['counter'] };
for (let at = 0; at < 5; at++) await changeFiles(locked, () =>
  writeFileSync(${JSON.stringify(counter)}, String(Number(readFileSync(${JSON.stringify(counter)}, 'utf8')) + 1)));`;
  const bundle = await bundleProgram(programs, program);
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [bundle], { stdio: 'inherit' }),
  );
  await Promise.all(children.map((child) => once(child, 'close')));
  expect(readFileSync(counter, 'utf8')).toBe('20');
});

it('the identity of this process names its claim', async () => {
  await takeLock(pins());
  const { pid, start } = ownIdentity();
  expect(readdirSync(folder)[0]).toContain(`.${pid}.${start}`);
});
