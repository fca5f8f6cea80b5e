// Events at the end of the chain, with the rows that they make.
import type { Event } from '@subluminal/contracts';
import { factsOf, type LineFacts } from '../chain/event-line.ts';
import { digestOf, linkHash } from '../chain/hash-chain.ts';
import { OWN_PRODUCER, type OwnRecord, ownLine, readPolicy } from '../chain/ledger-events.ts';
import { projectEvent, projectPolicy } from '../event-types/project.ts';
import { type PlainLine, packFull } from '../sqlite/line-blocks.ts';
import type { StoreTransaction } from '../sqlite/transaction.ts';
import { emptyProjection } from '../store/projection.ts';
import type { EventRow, Tip } from '../store/stored-rows.ts';

export interface NewEvent extends LineFacts {
  readonly producer: string;
  /** The ledger's own events are numbered by their place. */
  readonly producerSeq: number | undefined;
  readonly line: string;
  readonly event: Event | undefined;
}

/** Appends after `tip` and returns the new one. */
export async function append(
  transaction: StoreTransaction,
  tip: Tip,
  events: readonly NewEvent[],
): Promise<Tip> {
  const rows: EventRow[] = [];
  const lines: PlainLine[] = [];
  const projection = emptyProjection();
  let { seq, hash } = tip;
  for (const { producer, line, event, type, tsMs, runId, producerSeq: given } of events) {
    seq += 1;
    const producerSeq = given ?? seq;
    const bytes = Buffer.from(line, 'utf8');
    hash = linkHash(hash, { seq, producer, producerSeq, digest: digestOf(bytes) });
    rows.push({ seq, producer, producerSeq, line, digest: null, hash, type, tsMs, runId });
    lines.push({ seq, bytes });
    if (event !== undefined) projectEvent(projection, event, { seq, atMs: tsMs ?? 0 });
    const policy = producer === OWN_PRODUCER ? readPolicy(line) : undefined;
    if (policy !== undefined) projectPolicy(projection, policy);
  }
  // Beside this thread, while it makes the rows.
  const { blocks, packedTo } = packFull(lines);
  await transaction.addEvents(rows, packedTo);
  await transaction.merge(projection);
  await transaction.addBlocks(await blocks);
  return { seq, hash };
}

export function ownEvent(record: OwnRecord, nowMs: number): NewEvent {
  const line = ownLine(record, nowMs);
  const own = { producer: OWN_PRODUCER, producerSeq: undefined, event: undefined };
  return { ...own, line, ...factsOf(line) };
}
