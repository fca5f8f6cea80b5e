// The ledger and the spool as the socket wants them.

import { BATCH_LINES_MAX, type Ledger, OWN_PRODUCER } from '../../stores/ledger/index.ts';
import type { IngestLedger, IngestSpool, PruneFilter } from '../ingest/index.ts';
import { dropSpool, listSpool, readSpool } from '../sink/index.ts';

const COUNTED_MAX = 1_000_000;

export function ledgerPort(ledger: Ledger): IngestLedger {
  const { store } = ledger;
  return {
    batchLinesMax: BATCH_LINES_MAX,
    ingest: (lines) => ledger.ingest(lines),
    seal: () => ledger.seal(),
    prune: (filter) => ledger.prune(filter),
    countStale: (filter) => countStale(ledger, filter),
    events: async (afterSeq, limit) => {
      const rows = await store.events({ afterSeq, limit });
      return rows.map(({ seq, producer, line }) => ({
        seq,
        line: producer === OWN_PRODUCER ? null : line,
      }));
    },
    lastSeq: async () => (await store.tip()).seq,
  };
}

/** How many runs a prune would take. */
export async function countStale(ledger: Ledger, filter: PruneFilter) {
  const { olderThanMs, keepRuns, what = 'all' } = filter;
  const stale = await ledger.store.transaction((transaction) =>
    transaction.staleRuns({
      beforeMs: olderThanMs,
      keepRuns,
      withPreviews: what === 'previews',
      limit: COUNTED_MAX,
    }),
  );
  return { runs: stale.length, events: null };
}

export function spoolPort(folder: string): IngestSpool {
  return {
    list: async () => {
      const files = await listSpool(folder);
      return files.map((file) => ({
        path: file.path,
        producer: file.producer,
        read: async function* () {
          for await (const { lines, endOffset } of readSpool(file)) {
            yield { lines: lines.map((line) => ({ producer: file.producer, ...line })), endOffset };
          }
        },
        drop: async (endOffset) => void (await dropSpool(file, endOffset)),
      }));
    },
  };
}
