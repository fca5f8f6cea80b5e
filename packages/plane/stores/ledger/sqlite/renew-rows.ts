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

/** When an earlier version has made them. */
export async function renewRows(transaction: StoreTransaction): Promise<void> {
  if ((await transaction.meta('projection')) === PROJECTION_VERSION) return;
  await rebuildRows(transaction);
  await transaction.setMeta('projection', PROJECTION_VERSION);
}
