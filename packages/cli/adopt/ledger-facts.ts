// What the ledger knows of servers: their last calls, definitions that have changed, and runs that tools have evaded.
import { existsSync } from 'node:fs';
import { type Client, type Failure, isFailure, subjectNames } from '@subluminal/contracts';
import { EMPTY_PINS } from '@subluminal/core/surface';
import { type ChangedDefinition, type RunRow, unacceptedChanges } from '@subluminal/plane/ledger';
import { openPins } from '@subluminal/plane/surface';
import { findLedger, freshen, withReader } from '../ledger/user-ledger.ts';
import type { Io } from '../terminal/io.ts';

const SERVERS_MAX = 500;

/** A server of a config. Servers of several clients may have one name. */
export interface CalledServer {
  /** The name that the ledger knows it by. */
  readonly name: string;
  /** What events call other clients: their calls are none of this server's. */
  readonly otherEventNames: readonly Client[];
}

export interface LastCall {
  readonly atMs: number;
  readonly tool: string;
  readonly runId: string;
  readonly client: string | null;
  /** How many other servers of this name may have made it, as far as the ledger tells. */
  readonly othersCount: number;
}

export interface LedgerFacts {
  readonly lastCalls: ReadonlyMap<CalledServer, LastCall>;
  /** What servers have changed, and no person has accepted. */
  readonly changes: readonly ChangedDefinition[];
  /** Runs of the last days that were decided or recorded by less than they should be, the newest first. */
  readonly degraded: readonly DegradedRun[];
}

export type DegradedRun = Pick<RunRow, 'run_id' | 'client' | 'last_at_ms' | 'degraded_reason'>;

const NOTHING: LedgerFacts = { lastCalls: new Map(), changes: [], degraded: [] };
const DEGRADED_MAX = 5;
const DEGRADED_DAYS_MS = 7 * 86_400_000;

/** Nothing where there is no ledger yet. */
export async function ledgerFacts(
  servers: readonly CalledServer[],
  io: Io,
): Promise<LedgerFacts | Failure> {
  const home = await findLedger();
  if (isFailure(home)) return home;
  await freshen(home, io);
  if (!existsSync(home.file)) return NOTHING;
  // Pins that cannot be read are told of by `sub doctor`.
  const pins = openPins(home.paths.home);
  const { store } = isFailure(pins) ? { store: EMPTY_PINS } : pins;
  return withReader(home, async (reader) => {
    const lastCalls = new Map<CalledServer, LastCall>();
    for (const server of servers.slice(0, SERVERS_MAX)) {
      const { name: serverName, otherEventNames: clientsExcept } = server;
      const { rows } = await reader.calls({ serverName, clientsExcept }, { limit: 1 });
      const [last] = rows;
      if (last === undefined) continue;
      const { created_at_ms: atMs, run_id: runId, client } = last;
      const tool = subjectNames(last)[1];
      const makers = servers.filter((one) => one.name === serverName && mayMake(one, client));
      lastCalls.set(server, { atMs, tool, runId, client, othersCount: makers.length - 1 });
    }
    const nowMs = Date.now();
    const recent = { isDegraded: true, fromMs: nowMs - DEGRADED_DAYS_MS } as const;
    const { rows: degraded } = await reader.runs(recent, { limit: DEGRADED_MAX });
    return { lastCalls, changes: await unacceptedChanges(reader, store, nowMs), degraded };
  });
}

function mayMake({ otherEventNames }: CalledServer, client: string | null): boolean {
  return otherEventNames.every((name) => name !== client);
}
