// What the ledger knows of servers: their last calls, and definitions that have changed.
import { existsSync } from 'node:fs';
import { type Failure, isFailure, subjectNames } from '@subluminal/contracts';
import { EMPTY_PINS } from '@subluminal/core/surface';
import { type ChangedDefinition, unacceptedChanges } from '@subluminal/plane/ledger';
import { openPins } from '@subluminal/plane/surface';
import { findLedger, freshen, withReader } from '../ledger/user-ledger.ts';
import type { Io } from '../terminal/io.ts';

const SERVERS_MAX = 500;

/** Several clients may have a server of this name, so it says whose call it was. */
export interface LastCall {
  readonly atMs: number;
  readonly tool: string;
  readonly runId: string;
  readonly client: string | null;
}

export interface LedgerFacts {
  /** By the name that the ledger knows a server by. */
  readonly lastCalls: ReadonlyMap<string, LastCall>;
  /** What servers have changed, and no person has accepted. */
  readonly changes: readonly ChangedDefinition[];
}

const NOTHING: LedgerFacts = { lastCalls: new Map(), changes: [] };

/** Nothing where there is no ledger yet. */
export async function ledgerFacts(
  names: readonly string[],
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
    const lastCalls = new Map<string, LastCall>();
    for (const name of new Set(names.slice(0, SERVERS_MAX))) {
      const { rows } = await reader.calls({ serverName: name }, { limit: 1 });
      const [last] = rows;
      if (last === undefined) continue;
      const { created_at_ms: atMs, run_id: runId, client } = last;
      lastCalls.set(name, { atMs, tool: subjectNames(last)[1], runId, client });
    }
    return { lastCalls, changes: await unacceptedChanges(reader, store, Date.now()) };
  });
}
