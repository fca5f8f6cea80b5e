// What a fleet has started ends with the bench, however that ends; and a fleet that hangs is ended.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

type Role = 'agent' | 'ledger';

const living = new Map<ChildProcess, Role>();
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
/** From asking to end until SIGKILL. */
const GRACE_MS = 15_000;
const POLL_MS = 50;

export function keepUntilEnd<T extends ChildProcess>(child: T, role: Role): T {
  living.set(child, role);
  const forget = (): void => {
    living.delete(child);
  };
  child.once('exit', forget);
  child.once('error', forget);
  return child;
}

/** The ledger last: a run that ends without one would start another. */
async function endAll(): Promise<void> {
  await endThose('agent');
  await endThose('ledger');
}

/** A run passes SIGTERM on, and ends its shims and their servers in order. */
async function endThose(role: Role): Promise<void> {
  const those = () => [...living].filter(([, one]) => one === role).map(([child]) => child);
  for (const child of those()) child.kill('SIGTERM');
  const deadlineMs = performance.now() + GRACE_MS;
  while (those().length > 0 && performance.now() < deadlineMs) await delay(POLL_MS);
  for (const child of those()) child.kill('SIGKILL');
}

/** Does the work; an interruption or the end of the time ends what it has started, cleans up, and exits. */
export async function interruptible<T>(
  { timeoutMs, cleanUp }: { readonly timeoutMs: number; readonly cleanUp: () => void },
  work: () => Promise<T>,
): Promise<T> {
  let isEnding = false;
  const endWith = (code: number): void => {
    if (isEnding) return;
    isEnding = true;
    void endAll().finally(() => {
      cleanUp();
      process.exit(code);
    });
  };
  const timer = setTimeout(() => {
    process.stderr.write(`The fleet is not done after ${timeoutMs / 1_000} s, and is ended.\n`);
    endWith(1);
  }, timeoutMs);
  const listeners = Object.entries(SIGNALS).map(([signal, number]) => {
    const listener = (): void => endWith(128 + number);
    process.on(signal, listener);
    return { signal, listener };
  });
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    for (const { signal, listener } of listeners) process.off(signal, listener);
    // What ends it exits, too.
    if (isEnding) await new Promise<never>(() => {});
    cleanUp();
  }
}
