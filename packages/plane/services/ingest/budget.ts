// What all connections together may hold in memory of lines that have no end yet. One connection may
// hold a long line; many that never end theirs must not take the daemon's memory.

export interface Holder {
  readonly heldBytes: number;
  /** Lets go of what it holds, and of the connection. */
  drop(): void;
}

/** Four of the longest lines that there may be. */
const HELD_BYTES_MAX = 128 * 1024 * 1024;

export class Budget {
  readonly #bytesMax: number;
  readonly #held = new Map<Holder, number>();
  #total = 0;

  constructor(bytesMax: number = HELD_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** It holds more, or less, than before. The one that holds most goes when it is too much. */
  changed(holder: Holder): void {
    const bytes = holder.heldBytes;
    this.#total += bytes - (this.#held.get(holder) ?? 0);
    if (bytes === 0) this.#held.delete(holder);
    else this.#held.set(holder, bytes);
    while (this.#total > this.#bytesMax) {
      const largest = this.#largest();
      if (largest === undefined) return;
      this.gone(largest);
      largest.drop();
    }
  }

  gone(holder: Holder): void {
    this.#total -= this.#held.get(holder) ?? 0;
    this.#held.delete(holder);
  }

  #largest(): Holder | undefined {
    let largest: Holder | undefined;
    for (const [holder, bytes] of this.#held) {
      if (largest === undefined || bytes > (this.#held.get(largest) ?? 0)) largest = holder;
    }
    return largest;
  }
}
