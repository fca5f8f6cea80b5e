// The last call of each server, as far as the ledger knows.
import { existsSync } from 'node:fs';
import { type Failure, isFailure, subjectNames } from '@subluminal/contracts';
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

/** By the name that the ledger knows a server by; empty where there is no ledger yet. */
export async function lastCalls(
  names: readonly string[],
  io: Io,
): Promise<ReadonlyMap<string, LastCall> | Failure> {
  const home = await findLedger();
  if (isFailure(home)) return home;
  await freshen(home, io);
  if (names.length === 0 || !existsSync(home.file)) return new Map();
  return withReader(home, async (reader) => {
    const calls = new Map<string, LastCall>();
    for (const name of new Set(names.slice(0, SERVERS_MAX))) {
      const { rows } = await reader.calls({ serverName: name }, { limit: 1 });
      const [last] = rows;
      if (last === undefined) continue;
      const { created_at_ms: atMs, run_id: runId } = last;
      const client = (await reader.run(runId))?.client ?? null;
      calls.set(name, { atMs, tool: subjectNames(last)[1], runId, client });
    }
    return calls;
  });
}
