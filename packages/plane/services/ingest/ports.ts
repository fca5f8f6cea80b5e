// What the daemon's socket needs of the ledger and of the spool.
import type { NumberedLine, PruneCounts, PruneWish, TakenCounts } from './protocol.ts';

export interface StoredEvent {
  readonly seq: number;
  /** Null for what was pruned, and for what the ledger said itself. */
  readonly line: string | null;
}

export interface IngestLedger {
  /** At most this many lines at once. */
  readonly batchLinesMax: number;
  /** All or nothing; resolves when committed. */
  ingest(lines: readonly NumberedLine[]): Promise<TakenCounts>;
  /** Resolves when everything is on disk. */
  seal(): Promise<unknown>;
  prune(wish: PruneWish): Promise<PruneCounts>;
  /** What `prune` would do. */
  countStale(wish: PruneWish): Promise<PruneCounts>;
  /** In the order of seq. */
  events(afterSeq: number, limit: number): Promise<readonly StoredEvent[]>;
  lastSeq(): Promise<number>;
  /** What a failure means: try again, give up, or look for the line that caused it. */
  judge(cause: unknown): Judgement;
}

export type Judgement =
  | { readonly kind: 'passing' | 'final'; readonly code: string; readonly message: string }
  | { readonly kind: 'defect'; readonly message: string };

interface SpoolBatch {
  readonly lines: readonly NumberedLine[];
  /** How far into the file this batch reaches. */
  readonly endOffset: number;
}

/** One file of the spool. */
export interface SpoolFile {
  readonly path: string;
  /** Whose lines are in it. */
  readonly producer: string;
  read(): AsyncIterable<SpoolBatch>;
  /** Removes it, unless there is more behind the offset. */
  drop(endOffset: number): Promise<void>;
}

export interface IngestSpool {
  /** The files that may be taken. */
  list(): Promise<readonly SpoolFile[]>;
}
