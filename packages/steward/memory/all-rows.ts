// Goes through the whole memory, newest first, a page at a time.
import { setImmediate as nextTick } from 'node:timers/promises';
import type { MemoryRow, MemoryStore } from './store/types.ts';

/** An audit takes about a millisecond for a row, and nothing else runs within a page. */
const PAGE = 50;

export async function* allRows(store: MemoryStore): AsyncIterable<MemoryRow> {
  let before: string | undefined;
  for (;;) {
    const rows = await store.list({ limit: PAGE, ...(before === undefined ? {} : { before }) });
    for (const row of rows) yield row;
    before = rows.at(-1)?.id;
    if (before === undefined) return;
    // Whoever talks with the agent meanwhile must not wait.
    await nextTick();
  }
}
