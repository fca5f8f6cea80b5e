// Changing the ledger: by the daemon while one runs, because it is then the only writer; else here.
import { setTimeout as pause } from 'node:timers/promises';
import {
  ERROR_CODES,
  EVENT_LINE_LENGTH_MAX,
  errorEntry,
  type Failure,
  failure,
  isFailure,
  type SubCode,
} from '@subluminal/contracts';
import { countStale } from '@subluminal/plane/daemon';
import {
  type Answer,
  createLedgerClient,
  type LedgerClient,
  type NumberedLine,
  type PruneCounts,
  type PruneWish,
  type TakenCounts,
} from '@subluminal/plane/ingest';
import type { Ledger } from '@subluminal/plane/ledger';
import { isAnswered } from '@subluminal/plane/os';
import type { Io } from '../terminal/io.ts';
import { type LedgerHome, withWriter } from './home.ts';

export interface LedgerWriter {
  ingest(lines: readonly NumberedLine[]): Promise<TakenCounts>;
  /** Everything so far is on disk when it resolves. */
  seal(): Promise<void>;
  prune(wish: PruneWish): Promise<PruneCounts>;
  /** What `prune` would do. */
  count(wish: PruneWish): Promise<PruneCounts>;
}

interface ChangeWish {
  readonly io: Io;
  /** Make the ledger when there is none. */
  readonly create: boolean;
  /** How long another writer may keep us waiting; 5 s. */
  readonly lockMs?: number;
}

const LOCK_MS = 5_000;
const LOCK_POLL_MS = 50;
/** A batch of short lines is well below what a request may have; see its maker. */
const SHORT_LENGTH = 262_144;
const QUOTED_BYTES_MAX = 26 * 1_048_576;

/** What the daemon would not do. */
class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: SubCode;

  constructor(code: string, message: string) {
    super(message);
    this.code = ERROR_CODES.find((one) => one === code) ?? 'SUB_LEDGER_IO';
  }
}

export async function changeLedger<T>(
  home: LedgerHome,
  wish: ChangeWish,
  work: (writer: LedgerWriter) => Promise<T>,
): Promise<T | Failure> {
  const socketPath = home.config['ledger.socket'];
  const deadlineMs = performance.now() + (wish.lockMs ?? LOCK_MS);
  for (;;) {
    if (await isAnswered(socketPath)) {
      return refusalsOf(() => work(remoteWriter(createLedgerClient({ socketPath }))));
    }
    const changed = await withWriter(home, wish, (ledger) => work(ownWriter(ledger)));
    // A daemon that starts or ends, or another command, holds the ledger for a moment. Nothing was
    // done yet: whoever does not get the ledger does not get to work.
    const isLocked = isFailure(changed) && changed.code === 'SUB_LEDGER_LOCKED';
    if (!isLocked || performance.now() > deadlineMs) return changed;
    await pause(LOCK_POLL_MS);
  }
}

function ownWriter(ledger: Ledger): LedgerWriter {
  return {
    ingest: (lines) => ledger.ingest(lines),
    seal: async () => void (await ledger.seal()),
    prune: (wish) => ledger.prune(wish),
    count: (wish) => countStale(ledger, wish),
  };
}

function remoteWriter(client: LedgerClient): LedgerWriter {
  return {
    ingest: async (lines) => {
      // No event is that long: what a request has no room for need not be sent.
      const sent = lines.filter(({ line }) => quotedBytes(line) <= QUOTED_BYTES_MAX);
      const counts = resultOf(await client.ingest(sent));
      return { ...counts, rejected: counts.rejected + lines.length - sent.length };
    },
    seal: async () => void resultOf(await client.ingest([], { durable: true })),
    prune: async (wish) => resultOf(await client.prune(wish)),
    count: async (wish) => resultOf(await client.prune(wish, { dryRun: true })),
  };
}

/** At most, as it stands in a request; cheap for all that is not long. */
function quotedBytes(line: string): number {
  if (line.length > EVENT_LINE_LENGTH_MAX) return Number.POSITIVE_INFINITY;
  return line.length < SHORT_LENGTH ? 0 : Buffer.byteLength(JSON.stringify(line));
}

function resultOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.result;
  throw new Refusal(answer.code, answer.message);
}

async function refusalsOf<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    const { code, message } = cause;
    return failure(code, message.endsWith('.') ? message : `${message}.`, errorEntry(code).fix);
  }
}
