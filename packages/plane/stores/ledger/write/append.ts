// Events at the end of the chain, with the rows that they make.
import type { Event } from '@subluminal/contracts';
import { factsOf, type LineFacts } from '../chain/event-line.ts';
import { digestOf, linkHash } from '../chain/hash-chain.ts';
import { OWN_PRODUCER, type OwnRecord, ownLine, readPolicy } from '../chain/ledger-events.ts';
import { projectEvent, projectPolicy } from '../event-types/project.ts';
import { type PlainLine, packFull } from '../sqlite/line-blocks.ts';
import type { StoreTransaction } from '../sqlite/transaction.ts';
import { emptyProjection } from '../store/projection.ts';
import type { AddedEvent, Tip } from '../store/stored-rows.ts';

export interface NewEvent extends LineFacts {
  readonly producer: string;
  /** The ledger's own events are numbered by their place. */
  readonly producerSeq: number | undefined;
  readonly bytes: Buffer;
  readonly event: Event | undefined;
}

/** Gathers what events add, one by one, so that none need be kept; then writes it in one go. */
export class Appender {
  readonly #rows: AddedEvent[] = [];
  readonly #lines: PlainLine[] = [];
  readonly #projection = emptyProjection();
  #tip: Tip;

  constructor(tip: Tip) {
    this.#tip = tip;
  }

  add({ producer, bytes, event, type, tsMs, runId, producerSeq: given }: NewEvent): void {
    const seq = this.#tip.seq + 1;
    const producerSeq = given ?? seq;
    const digest = digestOf(bytes);
    const hash = linkHash(this.#tip.hash, { seq, producer, producerSeq, digest });
    this.#tip = { seq, hash };
    this.#rows.push({ seq, producer, producerSeq, hash, type, tsMs, runId });
    this.#lines.push({ seq, bytes });
    if (event !== undefined) projectEvent(this.#projection, event, { seq, atMs: tsMs ?? 0 });
    const policy = producer === OWN_PRODUCER ? readPolicy(bytes.toString('utf8')) : undefined;
    if (policy !== undefined) projectPolicy(this.#projection, policy);
  }

  /** Returns the new tip. */
  async write(transaction: StoreTransaction): Promise<Tip> {
    if (this.#rows.length === 0) return this.#tip;
    // Beside this thread, while it makes the rows.
    const { blocks, loose } = packFull(this.#lines);
    await transaction.addEvents(this.#rows, loose);
    await transaction.merge(this.#projection);
    await transaction.addBlocks(await blocks);
    return this.#tip;
  }
}

/** Appends after `tip` and returns the new one. */
export async function append(
  transaction: StoreTransaction,
  tip: Tip,
  events: readonly NewEvent[],
): Promise<Tip> {
  const appender = new Appender(tip);
  for (const event of events) appender.add(event);
  return appender.write(transaction);
}

export function ownEvent(record: OwnRecord, nowMs: number): NewEvent {
  const line = ownLine(record, nowMs);
  const own = { producer: OWN_PRODUCER, producerSeq: undefined, event: undefined };
  return { ...own, bytes: Buffer.from(line, 'utf8'), ...factsOf(line) };
}
