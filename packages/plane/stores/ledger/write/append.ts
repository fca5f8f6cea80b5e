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

/** So many events make one change of the rows: more of them live long enough for the collector to copy them. */
const ROWS_MAX = 400;

/** Puts events at the end of the chain, one by one. Of each only the bytes of its line are kept until all are there. */
export class Appender {
  readonly #transaction: StoreTransaction;
  readonly #lines: PlainLine[] = [];
  #rows: AddedEvent[] = [];
  #projection = emptyProjection();
  #tip: Tip;

  constructor(transaction: StoreTransaction, tip: Tip) {
    this.#transaction = transaction;
    this.#tip = tip;
  }

  add({ producer, bytes, event, type, tsMs, runId, ...given }: NewEvent): void {
    const seq = this.#tip.seq + 1;
    const producerSeq = given.producerSeq ?? seq;
    const digest = digestOf(bytes);
    const hash = linkHash(this.#tip.hash, { seq, producer, producerSeq, digest });
    this.#tip = { seq, hash };
    this.#rows.push({ seq, producer, producerSeq, hash, type, tsMs, runId });
    this.#lines.push({ seq, bytes });
    if (event !== undefined) projectEvent(this.#projection, event, { seq, atMs: tsMs ?? 0 });
    const policy = producer === OWN_PRODUCER ? readPolicy(bytes.toString('utf8')) : undefined;
    if (policy !== undefined) projectPolicy(this.#projection, policy);
  }

  get isFull(): boolean {
    return this.#rows.length >= ROWS_MAX;
  }

  /** Changes the rows by what was added since the last time. */
  async writeRows(): Promise<void> {
    await this.#transaction.addEvents(this.#rows);
    await this.#transaction.merge(this.#projection);
    this.#rows = [];
    this.#projection = emptyProjection();
  }

  /** Returns the new tip. */
  async end(): Promise<Tip> {
    // Beside this thread, while it makes the rows.
    const { packed, loose } = packFull(this.#lines);
    await this.writeRows();
    await this.#transaction.addLines(loose);
    await this.#transaction.addBlocks(await packed);
    return this.#tip;
  }
}

/** Appends after `tip` and returns the new one. */
export async function append(
  transaction: StoreTransaction,
  tip: Tip,
  events: readonly NewEvent[],
): Promise<Tip> {
  const appender = new Appender(transaction, tip);
  for (const event of events) appender.add(event);
  return appender.end();
}

export function ownEvent(record: OwnRecord, nowMs: number): NewEvent {
  const line = ownLine(record, nowMs);
  const own = { producer: OWN_PRODUCER, producerSeq: undefined, event: undefined };
  return { ...own, bytes: Buffer.from(line, 'utf8'), ...factsOf(line) };
}
