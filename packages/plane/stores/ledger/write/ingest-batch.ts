// One batch of lines: what can be read is stored once, what can't is set aside.

import {
  CONFLICT_REASON,
  type IncomingLine,
  isSameLine,
  keyProblem,
  readLine,
  storable,
} from '../chain/event-line.ts';
import { OWN_PRODUCER } from '../chain/ledger-events.ts';
import type { StoreTransaction } from '../sqlite/transaction.ts';
import type { RejectRow, Tip } from '../store/stored-rows.ts';
import { append, type NewEvent, ownEvent } from './append.ts';

export const BATCH_LINES_MAX = 20_000;
const REJECTS_MAX = 10_000;
const REJECT_LENGTH_MAX = 2_048;
const REASON_LENGTH_MAX = 500;

export interface IngestResult {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** Those of the rejected whose number another line has; left out when there is none. */
  readonly conflicts?: number;
}

type NumberedEvent = NewEvent & { readonly producerSeq: number };
type Reject = Omit<RejectRow, 'createdAtMs'>;

interface Batch {
  readonly events: readonly NumberedEvent[];
  readonly rejects: readonly Reject[];
  /** Lines that stand in the batch twice. */
  readonly repeated: number;
  /** Lines whose number another line of the batch has. */
  readonly conflicts: readonly Reject[];
}

/** Reads all lines before anything is locked. */
export function readBatch(lines: readonly IncomingLine[]): Batch {
  if (lines.length > BATCH_LINES_MAX) {
    throw new RangeError(`a batch has at most ${BATCH_LINES_MAX} lines, not ${lines.length}`);
  }
  const events: NumberedEvent[] = [];
  const [rejects, conflicts]: [Reject[], Reject[]] = [[], []];
  const seen = new Map<string, Map<number, string>>();
  let repeated = 0;
  for (const incoming of lines) {
    const { producer, seq: producerSeq } = incoming;
    const problem = lineProblem(incoming);
    if (problem !== undefined) {
      rejects.push(rejectOf(incoming, problem));
      continue;
    }
    const read = readLine(incoming.line);
    if (!read.ok) {
      rejects.push(rejectOf(incoming, read.reason));
      continue;
    }
    const ofProducer = seen.get(producer) ?? new Map<number, string>();
    seen.set(producer, ofProducer);
    const other = ofProducer.get(producerSeq);
    if (other === undefined) {
      ofProducer.set(producerSeq, read.line);
      events.push({ ...read, producer, producerSeq });
    } else if (isSameLine({ line: other, digest: null }, read.line)) repeated += 1;
    else conflicts.push(rejectOf(incoming, CONFLICT_REASON));
  }
  return { events, rejects, repeated, conflicts };
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

interface Ingested {
  readonly tip: Tip;
  readonly result: IngestResult;
  /** A warning about lines whose number another line has. */
  readonly conflict: string | undefined;
}

export async function ingestBatch(
  transaction: StoreTransaction,
  { tip, batch, nowMs }: IngestState,
): Promise<Ingested> {
  const { events, repeated } = batch;
  const stored = await transaction.stored(events);
  const fresh = events.filter((_, index) => stored[index] === undefined);
  const conflicts = [
    ...batch.conflicts,
    ...events.flatMap((event, index) => {
      const found = stored[index];
      if (found === undefined || isSameLine(found, event.line)) return [];
      const { producer, producerSeq: seq, line } = event;
      return [rejectOf({ producer, seq, line }, CONFLICT_REASON)];
    }),
  ];
  const rejects = [...batch.rejects, ...conflicts];
  if (rejects.length > 0) {
    const rows = rejects.map((reject) => ({ ...reject, createdAtMs: nowMs }));
    await transaction.addRejects(rows, REJECTS_MAX);
  }
  const added = [...fresh, ...conflictEvents(conflicts, nowMs)];
  const next = added.length === 0 ? tip : await append(transaction, tip, added);
  const known = events.length - fresh.length - (conflicts.length - batch.conflicts.length);
  return {
    tip: next,
    result: {
      accepted: fresh.length,
      duplicates: known + repeated,
      rejected: rejects.length,
      ...(conflicts.length > 0 && { conflicts: conflicts.length }),
    },
    conflict: conflictText(conflicts),
  };
}

/** Rejects come and go; that somebody spoke in another's name stays on record. */
function conflictEvents(conflicts: readonly Reject[], nowMs: number): readonly NewEvent[] {
  const [first] = conflicts;
  if (first === undefined) return [];
  const { producer, producerSeq: producer_seq } = first;
  const conflict = { lines: conflicts.length, producer, producer_seq };
  return [ownEvent({ type: 'ledger_conflict', conflict }, nowMs)];
}

function conflictText(conflicts: readonly Reject[]): string | undefined {
  const [first, ...others] = conflicts;
  if (first === undefined) return undefined;
  const { producer, producerSeq } = first;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `Two different lines came as number ${producerSeq} of ${producer}${more}: the later was set aside. Somebody may have written in another's name.`;
}
