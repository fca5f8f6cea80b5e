import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { startShim } from './start-shim.ts';

const LATE_PART = './run-started-shim.ts';
/** Writes its number, and stays whatever becomes of its input. */
const SERVER =
  "require('node:fs').writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 1_000)";

afterEach(() => vi.doUnmock(LATE_PART));

function shimIn(home: string) {
  const env = { PATH: process.env['PATH'], HOME: home, SUB_HOME: join(home, 'home') };
  const command = process.execPath;
  const args = ['-e', SERVER, join(home, 'pid')];
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

test.each([
  ['cannot be loaded', () => Promise.reject(new Error('no such file'))],
  ['fails', () => ({ runStarted: () => Promise.reject(new Error('a fault')) })],
  ['finds a fault', () => ({ runStarted: () => Promise.resolve('no policy') })],
])('no server goes on when what governs it %s', async (_, latePart) => {
  const home = mkdtempSync(join(tmpdir(), 'sub-start-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, 'pid');
  const pid = () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);
  onTestFinished(() => void (isRunning(pid()) && process.kill(pid(), 'SIGKILL')));
  vi.doMock(LATE_PART, async () => {
    await vi.waitFor(() => expect(pid()).toBeGreaterThan(0), 20_000);
    return latePart();
  });
  const ended = await startShim(shimIn(home)).catch(() => ({ ok: false }));
  expect(ended.ok).toBe(false);
  await vi.waitFor(() => expect(isRunning(pid())).toBe(false));
});
