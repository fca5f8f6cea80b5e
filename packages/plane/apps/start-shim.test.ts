import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { startShim } from './start-shim.ts';

const LATE_PART = './run-started-shim.ts';
/** Ends by no word, leaves a child outside of its group, and then writes their numbers. */
const SERVER =
  'trap "" TERM HUP INT; setsid sleep 600 & echo $$ $! > "$1.draft"; mv "$1.draft" "$1"; while :; do sleep 600; done';

afterEach(() => vi.doUnmock(LATE_PART));

function shimIn(home: string) {
  const env = { PATH: process.env['PATH'], HOME: home, SUB_HOME: join(home, 'home') };
  const command = '/bin/sh';
  const args = ['-c', SERVER, 'server', join(home, 'pids')];
  const started = { program: [process.execPath], words: ['shim'] };
  return { serverName: 'files', command, args, env, cwd: home, flags: { events: 'off' }, started };
}

function isRunning(pid: number): boolean {
  try {
    // 0 would be this test and all its group.
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

// The shell of a server, and what it leaves behind, are those of Linux.
test.skipIf(process.platform !== 'linux').each([
  ['cannot be loaded', () => Promise.reject(new Error('no such file'))],
  ['fails', () => ({ runStarted: () => Promise.reject(new Error('a fault')) })],
  ['finds a fault', () => ({ runStarted: () => Promise.resolve('no policy') })],
])('no server goes on when what governs it %s', async (_, latePart) => {
  const home = mkdtempSync(join(tmpdir(), 'sub-start-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, 'pids');
  const running = () =>
    (existsSync(file) ? readFileSync(file, 'utf8').split(' ').map(Number) : []).filter(isRunning);
  onTestFinished(() => {
    for (const pid of running()) process.kill(pid, 'SIGKILL');
  });
  vi.doMock(LATE_PART, async () => {
    await vi.waitFor(() => expect(running()).toHaveLength(2), 20_000);
    return latePart();
  });
  const ended = await startShim(shimIn(home)).catch(() => ({ ok: false }));
  expect(ended.ok).toBe(false);
  // The child has another parent now, who may take a moment to notice its end.
  await vi.waitFor(() => expect(running()).toEqual([]), 20_000);
});
