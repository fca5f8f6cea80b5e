// When each server was last called, as far as the ledger knows.
import { existsSync } from 'node:fs';
import { type Failure, isFailure } from '@subluminal/contracts';
import { findLedger, freshen, withReader } from '../ledger/user-ledger.ts';
import type { Io } from '../terminal/io.ts';

const SERVERS_MAX = 500;

/** By the name that the ledger knows a server by; empty where there is no ledger yet. */
export async function lastCalls(
  names: readonly string[],
  io: Io,
): Promise<ReadonlyMap<string, number> | Failure> {
  const home = await findLedger();
  if (isFailure(home)) return home;
  await freshen(home, io);
  if (names.length === 0 || !existsSync(home.file)) return new Map();
  return withReader(home, async (reader) => {
    const times = new Map<string, number>();
    for (const name of new Set(names.slice(0, SERVERS_MAX))) {
      const { rows } = await reader.calls({ serverName: name }, { limit: 1 });
      const [last] = rows;
      if (last !== undefined) times.set(name, last.created_at_ms);
    }
    return times;
  });
}
