// One batch of lines: what can be read is stored once, what can't is set aside.
import { append, type NewEvent } from './append.ts';
import { OWN_PRODUCER } from './own-events.ts';
import { type IncomingLine, keyProblem, readLine, storable } from './read-line.ts';
import type { RejectRow, StoreTransaction, Tip } from './store.ts';

const BATCH_LINES_MAX = 20_000;
const REJECTS_MAX = 10_000;
const REJECT_LENGTH_MAX = 2_048;
const REASON_LENGTH_MAX = 500;

interface IngestResult {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
}

interface Batch {
  readonly events: readonly (NewEvent & { readonly producerSeq: number })[];
  readonly rejects: readonly Omit<RejectRow, 'createdAtMs'>[];
  /** Lines that stand in the batch twice. */
  readonly repeated: number;
}

/** Reads all lines before anything is locked. */
function readBatch(lines: readonly IncomingLine[]): Batch {
  if (lines.length > BATCH_LINES_MAX) {
    throw new RangeError(`a batch has at most ${BATCH_LINES_MAX} lines, not ${lines.length}`);
  }
  const events: (NewEvent & { readonly producerSeq: number })[] = [];
  const rejects: Omit<RejectRow, 'createdAtMs'>[] = [];
  const seen = new Map<string, Set<number>>();
  let repeated = 0;
  for (const incoming of lines) {
    const { producer, seq: producerSeq } = incoming;
    const problem = lineProblem(incoming);
    if (problem !== undefined) {
      rejects.push(rejectOf(incoming, problem));
      continue;
    }
    const seqs = seen.get(producer) ?? new Set();
    seen.set(producer, seqs);
    if (seqs.has(producerSeq)) {
      repeated += 1;
      continue;
    }
    seqs.add(producerSeq);
    const read = readLine(incoming.line);
    if (read.ok) events.push({ ...read, producer, producerSeq });
    else rejects.push(rejectOf(incoming, read.reason));
  }
  return { events, rejects, repeated };
}

function lineProblem(incoming: IncomingLine): string | undefined {
  if (incoming.producer === OWN_PRODUCER) return 'the name of the producer is reserved';
  return keyProblem(incoming);
}

function rejectOf({ producer, seq, line }: IncomingLine, reason: string) {
  return {
    producer: storable(producer).slice(0, 256),
    producerSeq: Number.isSafeInteger(seq) ? seq : -1,
    reason: storable(reason).slice(0, REASON_LENGTH_MAX),
    line: storable(line.slice(0, REJECT_LENGTH_MAX)),
  };
}

interface IngestState {
  readonly tip: Tip;
  readonly batch: Batch;
  readonly nowMs: number;
}

async function ingestBatch(
  transaction: StoreTransaction,
  { tip, batch, nowMs }: IngestState,
): Promise<{ readonly tip: Tip; readonly result: IngestResult }> {
  const { events, rejects, repeated } = batch;
  const known = await transaction.known(events);
  const fresh = events.filter((_, index) => known[index] !== true);
  if (rejects.length > 0) {
    const rows = rejects.map((reject) => ({ ...reject, createdAtMs: nowMs }));
    await transaction.addRejects(rows, REJECTS_MAX);
  }
  const next = fresh.length === 0 ? tip : await append(transaction, tip, fresh);
  const duplicates = events.length - fresh.length + repeated;
  return {
    tip: next,
    result: { accepted: fresh.length, duplicates, rejected: rejects.length },
  };
}

export type { IngestResult };
export { BATCH_LINES_MAX, ingestBatch, readBatch };
