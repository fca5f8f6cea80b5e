// The events of one run: as lines, sent at the pace at which they are taken, and as a summary.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ApiRunSummary, isObject } from '@subluminal/contracts';
import { RunSummarizer } from '../../stores/ledger/index.ts';
import type { ApiReader, StoredEvent } from './types.ts';

interface LinesOptions {
  readonly reader: Pick<ApiReader, 'events'>;
  readonly runId: string;
  readonly afterSeq: number;
  /** The store failed half-way: the client must not take what it got for the whole. */
  readonly onFailure: (cause: unknown) => void;
}

interface RunLines {
  readonly isEmpty: boolean;
  readonly body: ReadableStream<Uint8Array>;
}

/** Reads the first page at once, to know whether there is anything, and each other when asked. */
export async function runLines({ onFailure, ...options }: LinesOptions): Promise<RunLines> {
  const pages = new EventPages(options);
  const first = await pages.next();
  let ahead: typeof first | undefined = first;
  const encoder = new TextEncoder();
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    // A page may hold nothing but what was pruned.
    for (let text = ''; text === ''; ) {
      const { rows, isLast } = ahead ?? (await pages.next());
      ahead = undefined;
      text = rows.map(lineOf).join('');
      if (text !== '') controller.enqueue(encoder.encode(text));
      if (isLast) return controller.close();
    }
  };
  const source = {
    pull: (controller: ReadableStreamDefaultController<Uint8Array>) =>
      pull(controller).catch((cause: unknown) => {
        onFailure(cause);
        controller.close();
      }),
  };
  // Nothing is read ahead of the client.
  const body = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
  return { isEmpty: first.rows.length === 0, body };
}

function lineOf({ seq, line }: StoredEvent): string {
  const event = line === null ? undefined : parsed(line);
  return event === undefined ? '' : `${JSON.stringify({ seq, event })}\n`;
}

/** The ledger takes only JSON objects in; what is something else was put there by somebody else. */
function parsed(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
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
