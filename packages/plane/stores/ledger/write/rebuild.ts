// All rows anew from the events: they are the source, the rows only an answer kept ready.
import { projectRow } from '../event-types/project.ts';
import type { StoreTransaction } from '../store/engine.ts';
import { emptyProjection } from '../store/projection.ts';

const PAGE_EVENTS = 2_000;

export async function rebuildProjections(transaction: StoreTransaction): Promise<void> {
  await transaction.clearProjections();
  for (let afterSeq = 0; ; ) {
    const rows = await transaction.events({ afterSeq, limit: PAGE_EVENTS });
    const projection = emptyProjection();
    for (const row of rows) projectRow(projection, row);
    await transaction.merge(projection);
    if (rows.length < PAGE_EVENTS) return;
    afterSeq = rows.at(-1)?.seq ?? afterSeq;
  }
}
