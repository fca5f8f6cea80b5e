// Values that are believed for a moment, and at most so many of them.

interface CacheOptions {
  readonly entriesMax: number;
  readonly lifetimeMs: number;
}

export class BoundedCache<V> {
  readonly #options: CacheOptions;
  /** In the order in which they were put. */
  readonly #entries = new Map<string, { readonly value: V; readonly untilMs: number }>();
  #generation = 0;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  get(key: string, nowMs: number): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.untilMs > nowMs) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Changes with each `forget`: what was read before one may be stale, and `put` leaves it out. */
  get generation(): number {
    return this.#generation;
  }

  put(key: string, value: V, read: { readonly nowMs: number; readonly generation: number }): void {
    if (read.generation !== this.#generation) return;
    this.#entries.delete(key);
    this.#entries.set(key, { value, untilMs: read.nowMs + this.#options.lifetimeMs });
    if (this.#entries.size <= this.#options.entriesMax) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  /** Forgets what fits, and what is being read just now. */
  forget(fits: (value: V) => boolean): void {
    this.#generation += 1;
    for (const [key, { value }] of this.#entries) if (fits(value)) this.#entries.delete(key);
  }
}
