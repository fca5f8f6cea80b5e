// What an engine must do. The ledger's rules stand above it and are the same for all engines.
import type { StoredLine } from '../chain/event-line.ts';
import type { Head } from '../chain/signed-head.ts';
import type { Projection } from './projection.ts';
import type {
  CallDetail,
  CallFilter,
  CallRow,
  Page,
  PageRequest,
  PolicyVersion,
  RunFilter,
  RunRow,
  Stats,
} from './query.ts';
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

export interface Tip {
  readonly seq: number;
  readonly hash: Uint8Array;
}

export interface EventsRequest {
  readonly afterSeq: number;
  readonly limit: number;
  readonly runId?: string;
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

/** How many rows there are, and how many events they say to be made of. */
export interface ProjectionCounts {
  readonly runs: number;
  readonly runEvents: number;
  readonly calls: number;
  readonly callEvents: number;
}

/** Something that our own steps cannot have left in the file. */
export interface StructureFault {
  /** `schema`: what is defined; `index`: an index against its table; `damaged`: all else. */
  readonly kind: 'schema' | 'index' | 'damaged';
  /** It concerns a table itself: its rows may not even be readable. */
  readonly isTable: boolean;
  /** What is wrong, and what to do. */
  readonly message: string;
}

export type TableRow = { readonly [column: string]: Cell };

export interface RowsRequest {
  readonly table: TableName;
  /** The row that the page before ended with. */
  readonly after?: TableRow;
  readonly limit: number;
}

/** What verifying and pruning read. */
export interface ChainReader {
  ledgerId(): Promise<string>;
  /** Seq 0 and the genesis hash when there is no event. */
  tip(): Promise<Tip>;
  lastHead(): Promise<Head | undefined>;
  /** A small text about the ledger as a whole. */
  meta(key: string): Promise<string | undefined>;
  heads(afterN: number, limit: number): Promise<readonly Head[]>;
  /** In the order of seq. */
  events(request: EventsRequest): Promise<readonly EventRow[]>;
  counts(): Promise<ProjectionCounts>;
  /** The rows of a table in the order of its key. */
  rows(request: RowsRequest): Promise<readonly TableRow[]>;
  /** What is defined beside or in place of our own tables and indexes; cheap. */
  schemaFaults(): Promise<readonly StructureFault[]>;
  /** Reads everything once, tables and indexes, and compares the two. */
  contentFaults(): Promise<readonly StructureFault[]>;
}

export interface StoreReader extends ChainReader {
  calls(filter: CallFilter, page: PageRequest): Promise<Page<CallRow>>;
  call(runId: string, callId: string): Promise<CallDetail | undefined>;
  runs(filter: RunFilter, page: PageRequest): Promise<Page<RunRow>>;
  run(runId: string): Promise<RunRow | undefined>;
  stats(filter: Pick<CallFilter, 'fromMs' | 'toMs'>): Promise<Stats>;
  policies(limit: number): Promise<readonly PolicyVersion[]>;
  rejects(limit: number): Promise<readonly RejectRow[]>;
  /** Runs `work` on one unchanging view of everything. */
  snapshot<T>(work: (reader: ChainReader) => Promise<T>): Promise<T>;
  /** An empty store of the same kind that leaves nothing behind when closed. */
  scratch(): Promise<Store>;
  close(): Promise<void>;
}

export interface LineKey {
  readonly producer: string;
  readonly producerSeq: number;
}

/** What becomes of one event when it is pruned. */
export interface PrunedEvent {
  readonly seq: number;
  readonly digest: Uint8Array;
  readonly line: string | null;
}

export interface StaleRequest {
  /** Runs and stray events whose last event is older. */
  readonly beforeMs?: number;
  /** All but so many of the newest runs. */
  readonly keepRuns?: number;
  /** Only runs that still have a preview. */
  readonly withPreviews?: boolean;
  readonly limit: number;
}

/** The inside of one transaction: all of it happens, or none. */
export interface StoreTransaction extends ChainReader {
  /** For each key, what is stored of its event; undefined where none is. */
  stored(keys: readonly LineKey[]): Promise<readonly (StoredLine | undefined)[]>;
  addEvents(rows: readonly EventRow[]): Promise<void>;
  addHead(head: Head): Promise<void>;
  /** Keeps the newest `rowsMax`; of one key the first, but rather one of a conflict. */
  addRejects(rows: readonly RejectRow[], rowsMax: number): Promise<void>;
  merge(projection: Projection): Promise<void>;
  setMeta(key: string, value: string): Promise<void>;
  clearProjections(): Promise<void>;
  /** The oldest runs first. */
  staleRuns(request: StaleRequest): Promise<readonly string[]>;
  /** Events that belong to no run of the `runs` table, and are older. */
  strayEvents(request: {
    readonly beforeMs: number;
    readonly limit: number;
  }): Promise<readonly EventRow[]>;
  /** What is replaced or dropped must not stay readable in the files of the store. */
  replaceLines(rows: readonly PrunedEvent[]): Promise<void>;
  /** Forgets the runs and everything about them but their events. */
  dropRuns(runIds: readonly string[]): Promise<void>;
  dropPreviews(runIds: readonly string[]): Promise<void>;
}

export interface TransactionOptions {
  /** On disk, not only with the operating system, when it resolves. */
  readonly durable?: boolean;
}

export interface Store extends StoreReader {
  /** One after the other, in the order of the calls. */
  transaction<T>(
    work: (transaction: StoreTransaction) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /** Gives unused space back to the system. */
  compact(): Promise<void>;
}
