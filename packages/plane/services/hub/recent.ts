// The last things of a kind: a map that forgets its oldest entries first.

export class Recent<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly weight: number }>();
  readonly #entriesMax: number;
  readonly #weightMax: number;
  #weight = 0;

  constructor(entriesMax: number, weightMax = entriesMax) {
    this.#entriesMax = entriesMax;
    this.#weightMax = weightMax;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Removes an entry and returns its value. */
  take(key: string): V | undefined {
    const known = this.#entries.get(key);
    if (known === undefined) return undefined;
    this.#entries.delete(key);
    this.#weight -= known.weight;
    return known.value;
  }

  /** `weight` is what it costs to keep; 1 when only their number matters. */
  add(key: string, value: V, weight = 1): void {
    this.take(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      // The newest stays, whatever it weighs: it is the one that will be asked for.
      if (this.#entries.size === 1) break;
      if (this.#entries.size <= this.#entriesMax && this.#weight <= this.#weightMax) break;
      this.take(oldest);
    }
  }
}
