// Changes the ledger: through the daemon while one runs, because it is then the only writer; else here.
import { setTimeout as pause } from 'node:timers/promises';
import {
  catchFailure,
  EVENT_LINE_LENGTH_MAX,
  type Failure,
  isFailure,
} from '@subluminal/contracts';
import { countStale } from '@subluminal/plane/daemon';
import {
  createLedgerClient,
  type LedgerClient,
  type NumberedLine,
  type PruneCounts,
  type PruneFilter,
  type TakenCounts,
} from '@subluminal/plane/ingest';
import type { Ledger } from '@subluminal/plane/ledger';
import { isAnswered } from '@subluminal/plane/os';
import { orThrow } from '../input/command.ts';
import { type LedgerHome, type WriteOptions, withWriter } from './user-ledger.ts';

/** Its methods throw failures; `changeLedger` returns them. */
export interface LedgerWriter {
  ingest(lines: readonly NumberedLine[]): Promise<TakenCounts>;
  /** Everything so far is on disk when it resolves. */
  seal(): Promise<void>;
  prune(filter: PruneFilter): Promise<PruneCounts>;
  /** What `prune` would do. */
  count(filter: PruneFilter): Promise<PruneCounts>;
}

interface ChangeOptions extends WriteOptions {
  /** How long to wait for another writer; 5 s. */
  readonly lockMs?: number;
}

const LOCK_MS = 5_000;
const LOCK_POLL_MS = 50;
/** Shorter lines fit into a request however they are quoted; see its maker. */
const SHORT_LENGTH = 262_144;
const QUOTED_BYTES_MAX = 26 * 1_048_576;

export async function changeLedger<T>(
  home: LedgerHome,
  { lockMs = LOCK_MS, ...options }: ChangeOptions,
  work: (writer: LedgerWriter) => Promise<T>,
): Promise<T | Failure> {
  const socketPath = home.config['ledger.socket'];
  const deadlineMs = performance.now() + lockMs;
  for (;;) {
    if (await isAnswered(socketPath)) {
      return catchFailure(() => work(remoteWriter(createLedgerClient({ socketPath }))));
    }
    const changed = await withWriter(home, options, (ledger) => work(ownWriter(ledger)));
    // A daemon that starts or ends, or another command, holds the ledger for a moment. `work` has
    // not begun then.
    const isLocked = isFailure(changed) && changed.code === 'SUB_LEDGER_LOCKED';
    if (!isLocked || performance.now() > deadlineMs) return changed;
    await pause(LOCK_POLL_MS);
  }
}

function ownWriter(ledger: Ledger): LedgerWriter {
  return {
    ingest: (lines) => ledger.ingest(lines),
    seal: async () => void (await ledger.seal()),
    prune: (filter) => ledger.prune(filter),
    count: (filter) => countStale(ledger, filter),
  };
}

function remoteWriter(client: LedgerClient): LedgerWriter {
  return {
    ingest: async (lines) => {
      // No event is that long: a line that does not fit into a request is not sent.
      const sent = lines.filter(({ line }) => quotedBytes(line) <= QUOTED_BYTES_MAX);
      const counts = orThrow(await client.ingest(sent));
      return { ...counts, rejected: counts.rejected + lines.length - sent.length };
    },
    seal: async () => void orThrow(await client.ingest([], { durable: true })),
    prune: async (filter) => orThrow(await client.prune(filter)),
    count: async (filter) => orThrow(await client.prune(filter, { dryRun: true })),
  };
}

/** An upper limit of what the line takes in a request; counted only for long lines. */
function quotedBytes(line: string): number {
  if (line.length > EVENT_LINE_LENGTH_MAX) return Number.POSITIVE_INFINITY;
  return line.length < SHORT_LENGTH ? 0 : Buffer.byteLength(JSON.stringify(line));
}
