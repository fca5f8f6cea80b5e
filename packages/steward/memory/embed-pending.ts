// Makes vectors in the background: a memory is kept at once, and is found by its words until its vector is there.
import { isFailure } from '@subluminal/contracts';
import { errorText } from '@subluminal/plane/os';
import type { Embedder } from './embedders/types.ts';
import type { MemoryRow, MemoryStore } from './store/types.ts';
import type { VectorStatus } from './types.ts';

const BATCH = 32;
const FRESH_MAX = 1_000;
const QUERY_MS = 3_000;

type PendingEntry = Pick<MemoryRow, 'id' | 'text'>;

export class PendingEmbeddings {
  readonly #store: MemoryStore;
  readonly #embedder: Embedder | undefined;
  readonly #end = new AbortController();
  /** Ids of entries that came since all were looked through. */
  #fresh: string[] = [];
  /** Others may wait as well: all have to be looked through. */
  #isBehind = true;
  #isRunning = false;
  #running: Promise<void> | undefined;
  #problem: string | undefined;

  constructor(store: MemoryStore, embedder: Embedder | undefined) {
    this.#store = store;
    this.#embedder = store.vectors.kind === 'on' ? embedder : undefined;
  }

  /** A model with another name makes all vectors anew. */
  async start(): Promise<void> {
    if (this.#embedder === undefined) return;
    await this.#store.useModel(this.#embedder.name, this.#embedder.dimensions);
    this.#run();
  }

  /** An entry that was written and has no vector. */
  add(id: string): void {
    if (this.#embedder === undefined) return;
    if (this.#fresh.length < FRESH_MAX) this.#fresh.push(id);
    else this.#isBehind = true;
    this.#run();
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  /** Nothing when there is no vector in time: words alone find something as well. */
  async ofQuery(text: string): Promise<Float32Array | undefined> {
    if (this.#embedder === undefined) return undefined;
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(QUERY_MS)]);
    const made = await this.#embed(this.#embedder, [text], signal);
    return made?.[0];
  }

  async status(): Promise<VectorStatus> {
    const { vectors } = this.#store;
    if (vectors.kind === 'off') return vectors;
    if (this.#embedder === undefined) return { kind: 'off', why: 'No model makes embeddings.' };
    if (this.#problem !== undefined) return { kind: 'off', why: this.#problem };
    const pending = await this.#store.countWithoutEmbedding();
    return { kind: 'on', model: this.#embedder.name, pending };
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
    await this.#embedder?.close();
  }

  #run(): void {
    if (this.#embedder === undefined || this.#isRunning || this.#end.signal.aborted) return;
    this.#isRunning = true;
    this.#running = this.#embedAll(this.#embedder);
  }

  /** What fails is tried again with the next memory. */
  async #embedAll(embedder: Embedder): Promise<void> {
    try {
      let isDone = true;
      while (isDone && (this.#isBehind || this.#fresh.length > 0)) {
        isDone = this.#isBehind ? await this.#catchUp(embedder) : await this.#embedFresh(embedder);
      }
    } catch (cause) {
      this.#isBehind = true;
      this.#problem = `The embeddings are not kept: ${errorText(cause)}.`;
    } finally {
      this.#isRunning = false;
    }
  }

  /** Looks through all once, newest first. */
  async #catchUp(embedder: Embedder): Promise<boolean> {
    this.#isBehind = false;
    this.#fresh = [];
    let before: string | undefined;
    for (;;) {
      const entries = await this.#store.withoutEmbedding(BATCH, before);
      if (entries.length === 0) return true;
      if (!(await this.#embedBatch(embedder, entries))) return false;
      before = entries.at(-1)?.id;
    }
  }

  async #embedFresh(embedder: Embedder): Promise<boolean> {
    const rows = await this.#store.byIds(this.#fresh.splice(0, BATCH));
    // What was forgotten or held back since must not go to the model.
    const active = rows.filter(({ state }) => state === 'active');
    return active.length === 0 || this.#embedBatch(embedder, active);
  }

  async #embedBatch(embedder: Embedder, entries: readonly PendingEntry[]): Promise<boolean> {
    const texts = entries.map(({ text }) => text);
    const vectors = await this.#embed(embedder, texts, this.#end.signal);
    if (vectors === undefined) {
      this.#isBehind = true;
      return false;
    }
    const made = entries.flatMap(({ id }, place) => {
      const vector = vectors[place];
      return vector === undefined ? [] : [{ id, vector }];
    });
    await this.#store.putEmbeddings(made);
    return true;
  }

  async #embed(embedder: Embedder, texts: readonly string[], signal: AbortSignal) {
    try {
      const vectors = await embedder.embed(texts, signal);
      if (signal.aborted) return undefined;
      this.#problem = isFailure(vectors) ? vectors.message : problemOf(embedder, texts, vectors);
      return isFailure(vectors) || this.#problem !== undefined ? undefined : vectors;
    } catch (cause) {
      this.#problem = `The embeddings fail: ${errorText(cause)}.`;
      return undefined;
    }
  }
}

function problemOf(
  { name, dimensions }: Embedder,
  texts: readonly string[],
  vectors: readonly Float32Array[],
): string | undefined {
  const isWhole =
    vectors.length === texts.length && vectors.every(({ length }) => length === dimensions);
  return isWhole ? undefined : `${name} makes other vectors than it says.`;
}
