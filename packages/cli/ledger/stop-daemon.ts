// Stops the daemon of the ledger, and waits for its end.
import { type Failure, failure } from '@subluminal/contracts';
import { createLedgerClient } from '@subluminal/plane/ingest';
import { processEnded } from '@subluminal/plane/os';

export const STOP_MS = 30_000;
/** From the end of its work to the end of its process. */
const EXIT_MS = 10_000;

/** The process that has ended; null when no daemon ran. */
export async function stopDaemon(
  socketPath: string,
): Promise<{ readonly kind: 'stopped'; readonly pid: number | null } | Failure> {
  const client = createLedgerClient({ socketPath });
  const before = await client.status();
  if (before === undefined) return { kind: 'stopped', pid: null };
  const hasEnded = await client.stop(STOP_MS);
  // The ledger is closed and signed; the process follows.
  if (!hasEnded || !(await processEnded(before.pid, EXIT_MS))) return notEnded(before.pid);
  return { kind: 'stopped', pid: before.pid };
}

export function notEnded(pid: number): Failure {
  const message = `the daemon (pid ${pid}) has not ended in time.`;
  return failure('SUB_LEDGER_BUSY', message, 'Look at run/ledgerd.log, or end the process.');
}
