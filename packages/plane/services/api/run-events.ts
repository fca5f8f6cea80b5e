// The events of one run: as lines, sent at the pace at which they are taken, and as a summary.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ApiRunSummary, isObject } from '@subluminal/contracts';
import { parseJson } from '../../os/index.ts';
import { eventAbout, RunSummarizer } from '../../stores/ledger/index.ts';
import type { ApiReader, StoredEvent } from './types.ts';

interface LinesOptions {
  readonly reader: Pick<ApiReader, 'events'>;
  readonly runId: string;
  /** Only events about this call. */
  readonly callId?: string | undefined;
  readonly afterSeq: number;
  /** The store failed half-way: the client must not take what it got for the whole. */
  readonly onFailure: (cause: unknown) => void;
}

interface RunLines {
  readonly isEmpty: boolean;
  readonly body: ReadableStream<Uint8Array>;
}

/** Reads the first page at once, to know whether there is anything, and each other when asked. */
export async function runLines(options: LinesOptions): Promise<RunLines> {
  const { onFailure, callId } = options;
  const pages = new EventPages(options);
  const first = await pages.next();
  async function* texts(): AsyncGenerator<Uint8Array> {
    try {
      for (let page = first; ; page = await pages.next()) {
        const text = page.rows.map((row) => lineOf(row, callId)).join('');
        // A page may hold nothing but what was pruned.
        if (text !== '') yield Buffer.from(text);
        if (page.isLast) return;
      }
    } catch (cause) {
      onFailure(cause);
    }
  }
  // Nothing is read ahead of the client.
  return { isEmpty: first.rows.length === 0, body: ReadableStream.from(texts()) };
}

function lineOf({ seq, line }: StoredEvent, callId: string | undefined): string {
  if (line === null) return '';
  const event = callId === undefined ? parseJson(line) : eventAbout(line, callId);
  // The ledger takes only JSON objects in; anything else was put there by somebody else.
  return isObject(event) ? `${JSON.stringify({ seq, event })}\n` : '';
}

interface SummaryOptions {
  readonly reader: Pick<ApiReader, 'events'>;
  readonly runId: string;
  readonly eventsMax: number;
  /** Nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** Undefined when there is no event of the run. */
export async function runSummary(options: SummaryOptions): Promise<ApiRunSummary | undefined> {
  const { reader, runId, eventsMax, signal } = options;
  const summarizer = new RunSummarizer();
  const pages = new EventPages({ reader, runId, afterSeq: 0 });
  let events = 0;
  for (;;) {
    const { rows, isLast } = await pages.next();
    for (const { line } of rows) if (line !== null) summarizer.addLine(line);
    events += rows.length;
    if (events === 0) return undefined;
    if (isLast) return summarizer.finish();
    if (events >= eventsMax || signal.aborted) return { ...summarizer.finish(), incomplete: true };
  }
}

// Events from the store, page by page, so that neither memory nor the event loop is taken up by one
// reader. A line may be long, so the pages follow the size of what came before.

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
