// Whether a process of another is gone.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 20;

/** True when it is gone before the time is up. */
export async function processEnded(pid: number, timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (isThere(pid)) {
    if (performance.now() > deadlineMs) return false;
    await pause(POLL_MS);
  }
  return true;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (cause) {
    // Not ours to signal, but there.
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM';
  }
  return !isZombie(pid);
}

/** It has ended, and nobody has taken note: in a container there may be none who does. */
function isZombie(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}
