// The ledger and the spool as the socket wants them.

import {
  BATCH_LINES_MAX,
  type Ledger,
  LedgerError,
  OWN_PRODUCER,
} from '../../stores/ledger/index.ts';
import type { IngestLedger, IngestSpool, Judgement, PruneWish } from '../ingest/index.ts';
import { dropSpool, listSpool, readSpool } from '../sink/index.ts';

/** Nothing that a later try could change. */
const FINAL: ReadonlySet<string> = new Set([
  'SUB_LEDGER_CORRUPT',
  'SUB_LEDGER_FOREIGN',
  'SUB_LEDGER_NEWER',
  'SUB_LEDGER_ROLLED_BACK',
  'SUB_LEDGER_TAMPERED',
]);
const COUNTED_MAX = 1_000_000;

export function ledgerPort(ledger: Ledger): IngestLedger {
  const { store } = ledger;
  return {
    batchLinesMax: BATCH_LINES_MAX,
    ingest: (lines) => ledger.ingest(lines),
    seal: () => ledger.seal(),
    prune: (wish) => ledger.prune(wish),
    countStale: (wish) => countStale(ledger, wish),
    events: async (afterSeq, limit) => {
      const rows = await store.events({ afterSeq, limit });
      return rows.map(({ seq, producer, line }) => ({
        seq,
        line: producer === OWN_PRODUCER ? null : line,
      }));
    },
    lastSeq: async () => (await store.tip()).seq,
    judge,
  };
}

function judge(cause: unknown): Judgement {
  if (!(cause instanceof LedgerError)) return { kind: 'defect', message: String(cause) };
  const { code, message } = cause;
  return { kind: FINAL.has(code) ? 'final' : 'passing', code, message };
}

/** How many runs a prune would take. */
export async function countStale(ledger: Ledger, wish: PruneWish) {
  const { olderThanMs, keepRuns, what = 'all' } = wish;
  const stale = await ledger.store.transaction((transaction) =>
    transaction.staleRuns({
      ...(olderThanMs !== undefined && { beforeMs: olderThanMs }),
      ...(keepRuns !== undefined && { keepRuns }),
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
