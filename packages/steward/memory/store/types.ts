// What the memory needs of a database. Two engines implement it; what is trusted, found and forgotten is decided above.

export type Provenance =
  | 'user_instruction'
  | 'agent_observation'
  | 'external_content'
  | 'tool_result';

/** Only `active` entries are in the indexes, so that nothing else can be found. */
export type MemoryState = 'active' | 'review' | 'quarantined';

export interface MemorySource {
  readonly server?: string;
  readonly tool?: string;
  readonly callId?: string;
  readonly sender?: string;
}

export type MemoryRequestBody =
  | { readonly kind: 'forget'; readonly containing: string }
  | { readonly kind: 'core'; readonly key: string; readonly value: string };

export interface MemoryRow {
  readonly id: string;
  readonly text: string;
  readonly provenance: string;
  /** JSON, as are `reasons` and `tags`. */
  readonly source: string;
  readonly conversation: string | null;
  readonly state: string;
  readonly reasons: string;
  readonly tags: string;
  readonly createdMs: number;
  readonly confirmedMs: number | null;
  readonly lastUsedMs: number | null;
  /** A keyed hash of the text: the same text is known again, and nobody can guess it. */
  readonly hash: string;
  readonly seal: string;
}

export interface CoreRow {
  readonly key: string;
  readonly value: string;
  readonly setMs: number;
  readonly seal: string;
}

export interface RequestRow {
  readonly id: string;
  readonly body: string;
  readonly reason: string;
  readonly conversation: string | null;
  readonly createdMs: number;
}

export interface RowFilter {
  readonly states?: readonly string[];
  readonly provenance?: string;
  /** In any case of letters. */
  readonly containing?: string;
  /** Ids grow with time: rows come newest first, from before this one. */
  readonly before?: string;
  readonly limit: number;
}

/** Apart from each other, so that a flood of text from outside pushes nothing of the user's out of a search. */
export type SearchGroup = 'own' | 'outside';

export interface MemoryHit {
  readonly id: string;
  /** Higher is better; comparable within one kind of search. */
  readonly score: number;
}

export interface Embedding {
  readonly id: string;
  readonly vector: Float32Array;
}

export type VectorSupport =
  | { readonly kind: 'on' }
  | { readonly kind: 'off'; readonly why: string };

export interface MemoryStore {
  readonly engine: 'sqlite' | 'postgres';
  readonly vectors: VectorSupport;
  /** Writes a row, or replaces the one of its id; the indexes follow its state. */
  put(row: MemoryRow): Promise<void>;
  byIds(ids: readonly string[]): Promise<readonly MemoryRow[]>;
  byHash(hash: string): Promise<MemoryRow | undefined>;
  list(filter: RowFilter): Promise<readonly MemoryRow[]>;
  markUsed(ids: readonly string[], nowMs: number): Promise<void>;
  count(): Promise<
    readonly { readonly state: string; readonly provenance: string; readonly count: number }[]
  >;
  /** The oldest unconfirmed entries of a provenance. */
  oldest(provenance: string, limit: number): Promise<readonly string[]>;
  /** Rows, index entries and embeddings. */
  remove(ids: readonly string[]): Promise<void>;
  removeByHash(hashes: readonly string[]): Promise<number>;
  /** Nothing that was removed is left in the files of the database. */
  scrub(): Promise<void>;
  /** `words` are letters and digits only. */
  searchText(
    words: readonly string[],
    group: SearchGroup,
    limit: number,
  ): Promise<readonly MemoryHit[]>;
  searchVector(
    vector: Float32Array,
    group: SearchGroup,
    limit: number,
  ): Promise<readonly MemoryHit[]>;
  /** Embeddings of another model or length are dropped. */
  useModel(name: string, dimensions: number): Promise<void>;
  /** Active entries without an embedding, newest first, from before this id. */
  withoutEmbedding(
    limit: number,
    before?: string,
  ): Promise<readonly { readonly id: string; readonly text: string }[]>;
  countWithoutEmbedding(): Promise<number>;
  putEmbeddings(embeddings: readonly Embedding[]): Promise<void>;
  core(): Promise<readonly CoreRow[]>;
  putCore(row: CoreRow): Promise<void>;
  removeCore(keys: readonly string[]): Promise<void>;
  requests(): Promise<readonly RequestRow[]>;
  putRequest(row: RequestRow): Promise<void>;
  removeRequests(ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
