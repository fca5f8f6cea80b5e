// Whoever asks the ledger wants what has just happened, too: it may still be on its way.
import { answers, createLedgerClient } from '@subluminal/plane/ingest';
import { ensureLedgerd } from '@subluminal/plane/main/ledgerd';
import { listSpool } from '@subluminal/plane/sink';
import type { Io } from '../io.ts';
import { type LedgerHome, warn } from './home.ts';

const SYNC_MS = 10_000;
const START_MS = 10_000;

/**
 * Lets the daemon take in what is on its way, and starts one when something waits on disk. What
 * cannot be done is said; the ledger can be read all the same.
 */
async function freshen(home: LedgerHome, io: Io): Promise<void> {
  const { config, paths } = home;
  const socketPath = config['ledger.socket'];
  if (!(await answers(socketPath))) {
    const waiting = await listSpool(paths.spool).catch(() => []);
    if (waiting.length === 0) return;
    if (!(await ensureLedgerd({ env: process.env, paths, config }, START_MS))) {
      warn(io, `events wait in ${paths.spool}: \`sub ledgerd\` could not be started to take them.`);
      return;
    }
  }
  const isDone = await createLedgerClient({ socketPath }).sync(SYNC_MS);
  if (!isDone) warn(io, '`sub ledgerd` does not answer in time: the newest events may be missing.');
}

export { freshen };
