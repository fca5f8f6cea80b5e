// One batch of lines: what can be read is stored once, what can't is set aside.

import {
  CONFLICT_REASON,
  type IncomingLine,
  isSameLine,
  keyProblem,
  type LineText,
  readLine,
  type StoredLine,
  storable,
} from '../chain/event-line.ts';
import { OWN_PRODUCER } from '../chain/ledger-events.ts';
import type { StoreTransaction } from '../sqlite/transaction.ts';
import type { RejectRow, Tip } from '../store/stored-rows.ts';
import { Appender, type NewEvent, ownEvent } from './append.ts';

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

type Incoming = IncomingLine<LineText>;
type Reject = Omit<RejectRow, 'createdAtMs'>;

function lineProblem(incoming: Incoming): string | undefined {
  if (incoming.producer === OWN_PRODUCER) return 'the name of the producer is reserved';
  return keyProblem(incoming);
}

function rejectOf({ producer, seq, line }: Incoming, reason: string) {
  return {
    producer: storable(producer).slice(0, 256),
    producerSeq: Number.isSafeInteger(seq) ? seq : -1,
    reason: storable(reason).slice(0, REASON_LENGTH_MAX),
    line: storable(line.toString('utf8').slice(0, REJECT_LENGTH_MAX)),
  };
}

interface IngestState {
  readonly tip: Tip;
  readonly lines: readonly Incoming[];
  readonly nowMs: number;
}

interface Ingested {
  readonly tip: Tip;
  readonly result: IngestResult;
  /** A warning about lines whose number another line has. */
  readonly conflict: string | undefined;
}

/** Each line is read, chained and let go before the next: what is kept of it is its bytes and its rows. */
export async function ingestBatch(
  transaction: StoreTransaction,
  { tip, lines, nowMs }: IngestState,
): Promise<Ingested> {
  const [rejects, conflicts]: [Reject[], Reject[]] = [[], []];
  const numbered: Incoming[] = [];
  for (const incoming of lines) {
    const problem = lineProblem(incoming);
    if (problem === undefined) numbered.push(incoming);
    else rejects.push(rejectOf(incoming, problem));
  }
  const stored = await transaction.stored(numbered);
  const appender = new Appender(transaction, tip);
  const repeatOf = repeats();
  let [accepted, duplicates] = [0, 0];
  for (const [index, incoming] of numbered.entries()) {
    const read = readLine(incoming.line);
    if (!read.ok) {
      rejects.push(rejectOf(incoming, read.reason));
      continue;
    }
    const { producer, seq: producerSeq } = incoming;
    const found = repeatOf(incoming, read.bytes) ?? stored[index];
    if (found === undefined) {
      appender.add({ ...read, producer, producerSeq });
      if (appender.isFull) await appender.writeRows();
      accepted += 1;
    } else if (isSameLine(found, read.bytes.toString('utf8'))) duplicates += 1;
    else conflicts.push(rejectOf(incoming, CONFLICT_REASON));
  }
  const rows = [...rejects, ...conflicts].map((reject) => ({ ...reject, createdAtMs: nowMs }));
  if (rows.length > 0) await transaction.addRejects(rows, REJECTS_MAX);
  for (const event of conflictEvents(conflicts, nowMs)) appender.add(event);
  return {
    tip: await appender.end(),
    result: {
      accepted,
      duplicates,
      rejected: rows.length,
      ...(conflicts.length > 0 && { conflicts: conflicts.length }),
    },
    conflict: conflictText(conflicts),
  };
}

/** Finds the line of a batch that came before with the same number. */
function repeats() {
  const seen = new Map<string, Map<number, Buffer>>();
  return ({ producer, seq }: Incoming, bytes: Buffer): StoredLine | undefined => {
    const ofProducer = seen.get(producer) ?? new Map<number, Buffer>();
    seen.set(producer, ofProducer);
    const first = ofProducer.get(seq);
    if (first !== undefined) return { line: first.toString('utf8'), digest: null };
    ofProducer.set(seq, bytes);
    return undefined;
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
