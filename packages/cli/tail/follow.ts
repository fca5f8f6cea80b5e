// The stream of events across restarts of the daemon. No event is repeated or left out, because every
// connection continues after the last event.

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Event, isFailure } from '@subluminal/contracts';
import { ensurePrivateFolder } from '@subluminal/plane/config';
import { ensureLedgerd } from '@subluminal/plane/daemon';
import { createLedgerClient } from '@subluminal/plane/ingest';
import { type LedgerHome, withReader } from '../ledger/user-ledger.ts';

export interface Followed {
  readonly seq: number;
  readonly event: Event;
}

export interface FollowSource {
  /** Starts a daemon when none runs; returns why that failed. */
  ensure(): Promise<string | undefined>;
  /** The last event of the ledger; undefined when that cannot be known. */
  tip(): Promise<number | undefined>;
  /** Ends with the daemon or with the signal. */
  follow(request: {
    readonly after: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<Followed>;
}

interface FollowRequest {
  readonly after: number;
  readonly signal: AbortSignal;
  /** Called once per interruption. */
  readonly onTrouble: (message: string) => void;
}

const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 2_000;

export async function* followOn(
  source: FollowSource,
  request: FollowRequest,
): AsyncGenerator<Followed, undefined> {
  const { signal } = request;
  let last = request.after;
  let retryMs = RETRY_MIN_MS;
  let isTold = false;
  while (!signal.aborted) {
    const trouble = await source.ensure();
    if (trouble === undefined) {
      // Another ledger was put in its place: what it holds has not been seen.
      const tip = await source.tip();
      if (tip !== undefined && tip < last) last = 0;
      for await (const followed of source.follow({ after: last, signal })) {
        if (followed.seq <= last) continue;
        last = followed.seq;
        retryMs = RETRY_MIN_MS;
        isTold = false;
        yield followed;
      }
    } else if (!isTold) {
      isTold = true;
      request.onTrouble(trouble);
    }
    // Rejects when the signal ends the wait, which the loop then sees.
    await pause(retryMs, undefined, { signal }).catch(() => undefined);
    retryMs = Math.min(RETRY_MAX_MS, retryMs * 2);
  }
  return undefined;
}

const START_MS = 10_000;

export function daemonOf(home: LedgerHome): FollowSource {
  const client = createLedgerClient({ socketPath: home.config['ledger.socket'] });
  return {
    ensure: () => ensured(home),
    tip: async () => {
      const tip = await withReader(home, (reader) => reader.tip());
      return isFailure(tip) ? undefined : tip.seq;
    },
    follow: (request) => client.follow(request),
  };
}

async function ensured({ config, paths }: LedgerHome): Promise<string | undefined> {
  for (const folder of [paths.home, paths.run]) {
    const unsafe = ensurePrivateFolder(folder);
    if (unsafe !== undefined) return `${unsafe.message} ${unsafe.fix} [${unsafe.code}]`;
  }
  if (await ensureLedgerd({ env: process.env, paths, config }, START_MS)) return undefined;
  return `\`sub ledgerd\` could not be started; see ${join(paths.run, 'ledgerd.log')}.`;
}
