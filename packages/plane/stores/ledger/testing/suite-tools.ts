// What the tests of the store share.
import { expect } from 'vitest';
import type { Store, StoreReader } from '../sqlite/sqlite-store.ts';
import type { CallRow } from '../store/query.ts';
import type { TableRow } from '../store/stored-rows.ts';
import { TABLES } from '../store/tables.ts';
import { verifyLedger } from '../verify/verify.ts';
import { type Ledger, type LedgerOptions, openLedger } from '../write/ledger.ts';
import { T0_MS } from './events.ts';
import { memoryWitness } from './memory-witness.ts';
import { signer, verifier } from './temp-ledger.ts';

export type OpenStore = () => Promise<Store>;

export const DAY_MS = 86_400_000;

export async function open(
  openStore: OpenStore,
  options: Partial<LedgerOptions> = {},
): Promise<Ledger> {
  const fixed = { signer: signer(), witness: memoryWitness(), nowMs: () => T0_MS };
  return openLedger({ store: await openStore(), ...fixed, ...options });
}

export async function tables(store: StoreReader): Promise<{ [name: string]: readonly TableRow[] }> {
  const rows = TABLES.map(async ({ name }) => [
    name,
    await store.rows({ table: name, limit: 1_000 }),
  ]);
  return Object.fromEntries(await Promise.all(rows)) as { [name: string]: readonly TableRow[] };
}

export async function expectProven(store: StoreReader): Promise<void> {
  const report = await verifyLedger(store, { verifier: verifier(), deep: true });
  expect(report.findings.filter(({ level }) => level === 'error')).toEqual([]);
}

export function ids(page: { readonly rows: readonly CallRow[] }): readonly string[] {
  return page.rows.map(({ call_id }) => call_id);
}
