// One process at a time changes the pins.
//
// Whoever wants to puts down a claim under a name of its own, which tells who it is, and then looks
// for the claims of others: without any that is alive, the lock is taken. Of two that come at once,
// the later sees the earlier, so never both have it. A claim of a dead process is removed by
// whoever sees it: its name is unique, so what is removed is never a living one's.
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode } from './own-file.ts';

type Lock =
  /** `release` may be called again. */
  | { readonly kind: 'locked'; readonly release: () => void }
  | { readonly kind: 'busy'; readonly pid: number };

const CLAIM = /^pins\.[0-9a-f-]{36}\.(\d{1,10})\.(\d{1,20}|unknown)\.lock$/;
const WAIT_MS = 10_000;
const PAUSE_MS_MAX = 40;

/** Waits for its turn, but not for ever. */
export async function takeLock(folder: string, waitMs = WAIT_MS): Promise<Lock> {
  const name = `pins.${randomUUID()}.${process.pid}.${startOf(process.pid) ?? 'unknown'}.lock`;
  const path = join(folder, name);
  const release = (): void => rmSync(path, { force: true });
  const endMs = performance.now() + waitMs;
  for (;;) {
    closeSync(openSync(path, 'wx', 0o600));
    const rival = livingRival(folder, name);
    if (rival === undefined) return { kind: 'locked', release };
    release();
    if (performance.now() >= endMs) return { kind: 'busy', pid: rival };
    await delay(1 + Math.random() * PAUSE_MS_MAX);
  }
}

/** The process behind another claim; the claims of the dead are removed. */
function livingRival(folder: string, own: string): number | undefined {
  for (const name of readdirSync(folder)) {
    const [, pid, start] = CLAIM.exec(name) ?? [];
    if (name === own || pid === undefined || start === undefined) continue;
    if (isAlive(Number(pid), start)) return Number(pid);
    rmSync(join(folder, name), { force: true });
  }
  return undefined;
}

/** A number is given to another process one day: the time of its start tells the two apart. */
function isAlive(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (cause) {
    return systemCode(cause) !== 'ESRCH';
  }
  const now = startOf(pid);
  return now === undefined || start === 'unknown' || now === start;
}

/** When a process has started, where /proc tells it. */
function startOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Its name, in brackets, may hold anything.
    const start = text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
    return /^\d{1,20}$/.test(start ?? '') ? start : undefined;
  } catch {
    return undefined;
  }
}
