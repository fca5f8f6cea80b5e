import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { takeLock } from './lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-pins-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const claim = (pid: number, start: string) =>
  writeFileSync(join(folder, `pins.${randomUUID()}.${pid}.${start}.lock`), '');

it('is held by one at a time, and nobody waits for ever', async () => {
  const first = await takeLock(folder);
  expect(await takeLock(folder, 20)).toEqual({ kind: 'busy', pid: process.pid });
  expect(readdirSync(folder)).toHaveLength(1);
  if (first.kind === 'locked') first.release();
  expect(await takeLock(folder, 20)).toMatchObject({ kind: 'locked' });
});

it('is taken over from a process that has ended', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  claim(pid, '12345');
  expect(await takeLock(folder, 20)).toMatchObject({ kind: 'locked' });
  expect(readdirSync(folder)).toHaveLength(1);
});

it.runIf(process.platform === 'linux')(
  'is taken over from one whose number another process has now',
  async () => {
    claim(process.pid, '1');
    expect(await takeLock(folder, 20)).toMatchObject({ kind: 'locked' });
  },
);

it('is not held by files that are no claims', async () => {
  for (const name of ['ledger.sock', 'vault.x.lock', 'pins.lock']) {
    writeFileSync(join(folder, name), '');
  }
  expect(await takeLock(folder, 20)).toMatchObject({ kind: 'locked' });
  expect(readdirSync(folder)).toHaveLength(4);
});
