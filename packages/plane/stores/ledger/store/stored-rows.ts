// What is stored, and how it is asked for.
import type { Cell, TableName } from './tables.ts';

/** One event as stored. */
export interface EventRow {
  readonly seq: number;
  readonly producer: string;
  readonly producerSeq: number;
  /** As received; without its previews, or null, once pruned. */
  readonly line: string | null;
  /** Null until something was pruned; then the digest of the line as it was. */
  readonly digest: Uint8Array | null;
  readonly hash: Uint8Array;
  readonly type: string | null;
  readonly tsMs: number | null;
  readonly runId: string | null;
}

/** One event to store; its line comes beside it. */
export type AddedEvent = Omit<EventRow, 'line' | 'digest'>;

export interface Tip {
  readonly seq: number;
  readonly hash: Uint8Array;
}

export interface EventsRequest {
  readonly afterSeq: number;
  readonly limit: number;
  readonly runId?: string;
  readonly type?: string;
  /** Only what was pruned. */
  readonly pruned?: boolean;
  /** Only what this producer sent. */
  readonly producer?: string;
}

export interface RejectRow {
  readonly producer: string;
  readonly producerSeq: number;
  readonly reason: string;
  /** The beginning of the line. */
  readonly line: string;
  readonly createdAtMs: number;
}

/** Something that our own steps cannot have left in the file. */
export interface StructureFault {
  /** `schema`: what is defined; `index`: an index against its table; `added`: a line twice; `unreadable`: all else. */
  readonly kind: 'schema' | 'index' | 'added' | 'unreadable';
  /** The event that it is about. */
  readonly seq?: number;
  /** A table itself is missing or another one: its rows may not even be readable. */
  readonly isTable?: boolean;
  /** What is wrong, and what to do. */
  readonly message: string;
}

export type TableRow = { readonly [column: string]: Cell };

export interface RowsRequest {
  readonly table: TableName;
  /** The row that the page before ended with. */
  readonly after?: TableRow | undefined;
  readonly limit: number;
}

/** What becomes of one event when it is pruned. */
export interface PrunedEvent {
  readonly seq: number;
  readonly digest: Uint8Array;
  readonly line: string | null;
}

export interface StaleRequest {
  /** Runs whose last event is older. */
  readonly beforeMs: number | undefined;
  /** All but so many of the newest runs. */
  readonly keepRuns: number | undefined;
  /** Only runs that still have a preview. */
  readonly withPreviews: boolean;
  readonly limit: number;
}

const PAGE_ROWS = 2_000;

/** The events that fit the request, page by page in the order of seq. */
export async function* eventPages(
  reader: { readonly events: (request: EventsRequest) => Promise<readonly EventRow[]> },
  request: Partial<Omit<EventsRequest, 'limit'>> = {},
): AsyncGenerator<readonly EventRow[], undefined> {
  for (let afterSeq = request.afterSeq ?? 0; ; ) {
    const rows = await reader.events({ ...request, afterSeq, limit: PAGE_ROWS });
    yield rows;
    if (rows.length < PAGE_ROWS) return undefined;
    afterSeq = rows.at(-1)?.seq ?? afterSeq;
  }
}

/** All rows of a table in the order of its key. */
export async function* tableRows(
  reader: { readonly rows: (request: RowsRequest) => Promise<readonly TableRow[]> },
  table: TableName,
): AsyncGenerator<TableRow, undefined> {
  for (let after: TableRow | undefined; ; ) {
    const rows = await reader.rows({ table, after, limit: PAGE_ROWS });
    yield* rows;
    if (rows.length < PAGE_ROWS) return undefined;
    after = rows.at(-1);
  }
}
