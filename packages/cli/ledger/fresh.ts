// Whoever asks the ledger wants what has just happened, too: it may still be on its way.
import { readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Failure, isFailure } from '@subluminal/contracts';
import { ensureLedgerd } from '@subluminal/plane/daemon';
import { createLedgerClient } from '@subluminal/plane/ingest';
import type { StoreReader } from '@subluminal/plane/ledger';
import { isAnswered } from '@subluminal/plane/os';
import type { Io } from '../terminal/io.ts';
import { findLedger, type LedgerHome, warn, withReader } from './home.ts';

const SYNC_MS = 10_000;
const START_MS = 10_000;
/** A shim looks for a daemon every two seconds at least. */
const HAND_OVER_MS = 4_000;
const HAND_OVER_POLL_MS = 50;
/** Complete, or still being written. */
const SPOOLED = /\.jsonl(?:\.\d{1,9}\.part)?$/;
const PART = /\.part$/;

/** Runs `work` on the ledger of this user, with the newest events in it. */
export async function readFreshLedger<T>(
  io: Io,
  work: (reader: StoreReader) => Promise<T>,
): Promise<T | Failure> {
  const home = await findLedger();
  if (isFailure(home)) return home;
  await freshen(home, io);
  return withReader(home, work);
}

/**
 * Lets the daemon take in what is on its way, and starts one when something waits on disk; not where
 * somebody checks what may be evidence, because a daemon also prunes. What cannot be done is said; the
 * ledger can be read all the same.
 */
export async function freshen(home: LedgerHome, io: Io, isEvidence = false): Promise<void> {
  const { config, paths } = home;
  const socketPath = config['ledger.socket'];
  const late = (who: string) => warn(io, `${who}: the newest events may be missing.`);
  if (!(await isAnswered(socketPath))) {
    const waiting = await namesIn(paths.spool);
    if (waiting.length === 0) return;
    if (isEvidence) {
      warn(
        io,
        `events wait in ${paths.spool}, and are not checked: \`sub ledgerd\` takes them in.`,
      );
      return;
    }
    if (!(await ensureLedgerd({ env: process.env, paths, config }, START_MS))) {
      warn(io, `events wait in ${paths.spool}: \`sub ledgerd\` could not be started to take them.`);
      return;
    }
    const isWhole = await handedOver(
      paths.spool,
      new Set(waiting.filter((name) => PART.test(name))),
    );
    if (!isWhole) late('a shim has not found the daemon yet');
  }
  const isDone = await createLedgerClient({ socketPath }).sync(SYNC_MS);
  if (!isDone) late('`sub ledgerd` does not answer in time');
}

/** Shims that still run hand over what they wrote as soon as they find the daemon. */
async function handedOver(spool: string, parts: ReadonlySet<string>): Promise<boolean> {
  const deadlineMs = performance.now() + HAND_OVER_MS;
  while ((await namesIn(spool)).some((name) => parts.has(name))) {
    if (performance.now() > deadlineMs) return false;
    await pause(HAND_OVER_POLL_MS);
  }
  return true;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => SPOOLED.test(name));
}
