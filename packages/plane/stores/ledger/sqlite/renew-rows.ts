// Makes all rows anew from the events: they are the source, the rows only an answer kept ready.

import { PROJECTION_VERSION, projectRows } from '../event-types/project.ts';
import { eventPages } from '../store/stored-rows.ts';
import type { StoreTransaction } from './transaction.ts';

export async function rebuildRows(transaction: StoreTransaction): Promise<void> {
  await transaction.clearProjections();
  for await (const rows of eventPages(transaction)) {
    await transaction.merge(projectRows(rows));
  }
}

const NOTICE =
  'The ledger is from an earlier version. It is upgraded once, in about half a minute for each million events.';

/** When an earlier version has made them; `notice` is told before it takes its time. */
export async function renewRows(
  transaction: StoreTransaction,
  notice?: (message: string) => void,
): Promise<void> {
  if ((await transaction.meta('projection')) === PROJECTION_VERSION) return;
  if ((await transaction.tip()).seq > 0) notice?.(NOTICE);
  await rebuildRows(transaction);
  await transaction.setMeta('projection', PROJECTION_VERSION);
}
