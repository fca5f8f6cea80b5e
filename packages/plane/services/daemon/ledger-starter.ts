// Starts a ledger daemon for a shim that has events while no daemon listens.
import type { StartOptions } from './start.ts';

/** A shim that ends at once needs no daemon: the next command takes its spool in. */
const FIRST_MS = 250;
/** A daemon that a person stopped should not come back at once. */
const AGAIN_MS = 10_000;

/** Gives what to call when nobody listens; it starts a daemon in a while, and never twice at once. */
export function ledgerStarter(options: StartOptions, warn: (text: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const madeMs = performance.now();
  let isTold = false;
  const start = async (): Promise<void> => {
    const { startLedgerd } = await import('./start.ts');
    const started = startLedgerd(options);
    if (started.kind === 'failed' && !isTold) {
      isTold = true;
      warn(`the ledger could not be started: ${started.reason}`);
    }
    timer = undefined;
  };
  return () => {
    if (timer !== undefined) return;
    const isNew = performance.now() - madeMs < FIRST_MS;
    timer = setTimeout(() => void start(), isNew ? FIRST_MS : AGAIN_MS);
    timer.unref();
  };
}
