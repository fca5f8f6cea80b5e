import type { Journal } from './journal.ts';

interface ChangeWait {
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Resolves when a write has made it so, when the time is up, or when nobody waits any more. */
export function waitForChange(
  journal: Journal,
  isSo: () => boolean,
  { waitMs, signal }: ChangeWait,
): Promise<void> {
  return new Promise((resolve) => {
    if (isSo() || signal.aborted) return resolve();
    const finish = () => {
      unfollow();
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const unfollow = journal.onChange(() => {
      if (isSo()) finish();
    });
    const timer = setTimeout(finish, waitMs);
    signal.addEventListener('abort', finish);
  });
}
