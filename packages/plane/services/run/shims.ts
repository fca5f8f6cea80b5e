// The end of the run's shims: by themselves once the agent is gone, else when they are told to.
import type { RunningHub } from '../hub/index.ts';
import { processesOf, type RunFamily, signalAll } from './processes.ts';

interface LeaveOptions {
  readonly hub: RunningHub;
  readonly family: RunFamily;
  /** How long a shim takes to end its server, at most. */
  readonly leaveMs: number;
}

const POLL_MS = 50;
/** A shim that was killed never says goodbye; one that we cannot see may still do. */
const UNSEEN_MS = 2_000;
const KILL_MS = 2_000;

/** False when a shim had to be made to leave. */
export async function shimsLeave({ hub, family, leaveMs }: LeaveOptions): Promise<boolean> {
  await leaveByThemselves({ hub, family, leaveMs });
  hub.shutdown();
  if (shimsOf(family).length === 0) return true;
  signalAll(shimsOf(family), 'SIGTERM');
  if (await areGone(family, leaveMs)) return false;
  // What guards the servers ends them, when a shim is gone all at once.
  signalAll(shimsOf(family), 'SIGKILL');
  await areGone(family, KILL_MS);
  return false;
}

/** A shim says goodbye before it has ended, and one that found no hub says nothing. */
async function leaveByThemselves({ hub, family, leaveMs }: LeaveOptions): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const hasLeft = await hub.whenLeft(POLL_MS);
    const isSeen = shimsOf(family).length > 0;
    const waitedMs = performance.now() - startMs;
    if (!isSeen && (hasLeft || waitedMs >= UNSEEN_MS)) return;
    if (waitedMs >= leaveMs) return;
    if (hasLeft) await pause();
  }
}

async function areGone(family: RunFamily, timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (shimsOf(family).length > 0) {
    if (performance.now() >= deadlineMs) return false;
    await pause();
  }
  return true;
}

function shimsOf(family: RunFamily): readonly number[] {
  return processesOf(family).shims;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
