// Events from the store, page by page, so that neither memory nor the event loop is taken up by one
// reader. A line may be long, so the pages follow the size of what came before.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApiReader, StoredEvent } from './types.ts';

const PAGE_EVENTS_FIRST = 32;
const PAGE_EVENTS_MAX = 512;
/** What a page should come to. */
const PAGE_LENGTH = 1_048_576;

interface EventPagesOptions {
  readonly reader: Pick<ApiReader, 'events'>;
  readonly afterSeq: number;
  readonly runId?: string;
}

export class EventPages {
  readonly #reader: Pick<ApiReader, 'events'>;
  readonly #runId: { readonly runId?: string };
  #limit = PAGE_EVENTS_FIRST;
  /** Everything up to here was read. */
  afterSeq: number;

  constructor({ reader, afterSeq, runId }: EventPagesOptions) {
    this.#reader = reader;
    this.#runId = runId === undefined ? {} : { runId };
    this.afterSeq = afterSeq;
  }

  /** The next events, and whether they were the last there are. */
  async next(): Promise<{ readonly rows: readonly StoredEvent[]; readonly isLast: boolean }> {
    // The store answers at once: others get their turn here.
    await nextTurn();
    const limit = this.#limit;
    const rows = await this.#reader.events({ afterSeq: this.afterSeq, limit, ...this.#runId });
    this.afterSeq = rows.at(-1)?.seq ?? this.afterSeq;
    const length = rows.reduce((sum, { line }) => sum + (line?.length ?? 0), 1);
    const fitting = Math.floor((rows.length * PAGE_LENGTH) / length);
    this.#limit = Math.max(1, Math.min(fitting, limit * 2, PAGE_EVENTS_MAX));
    return { rows, isLast: rows.length < limit };
  }
}
