// Signed messages that were taken already: a second one with the same nonce is a replay. The first
// end of a request wins anyway; this keeps a recorded message from being tried again at all.

export class Nonces {
  readonly #untilMs = new Map<string, number>();
  readonly #countMax: number;

  constructor(countMax = 10_000) {
    this.#countMax = countMax;
  }

  /** True for the first; false for a replay, and when there is no room to remember it. */
  take(nonce: string, nowMs: number, keptMs: number): boolean {
    for (const [old, untilMs] of this.#untilMs) {
      // In the order of their times, as nearly as matters.
      if (untilMs > nowMs) break;
      this.#untilMs.delete(old);
    }
    if (this.#untilMs.has(nonce) || this.#untilMs.size >= this.#countMax) return false;
    this.#untilMs.set(nonce, nowMs + keptMs);
    return true;
  }
}
