// Whether a gateway can take turns now: for whatever sends it requests, or holds them back.
import type { GatewayStore } from '../store/types.ts';

/** Anybody may ask: the database is asked once for all of them. */
const ANSWER_LASTS_MS = 1_000;

export class Readiness {
  readonly #store: Pick<GatewayStore, 'ping'>;
  readonly #nowMs: () => number;
  #asked: { readonly atMs: number; readonly isReady: Promise<boolean> } | undefined;
  #isEnding = false;

  constructor(store: Pick<GatewayStore, 'ping'>, nowMs: () => number) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** The gateway ends: turns under way go on, and no new ones should come. */
  end(): void {
    this.#isEnding = true;
  }

  async isReady(): Promise<boolean> {
    if (this.#isEnding) return false;
    const nowMs = this.#nowMs();
    if (this.#asked === undefined || nowMs - this.#asked.atMs >= ANSWER_LASTS_MS) {
      const isReady = this.#store.ping().catch(() => false);
      this.#asked = { atMs: nowMs, isReady };
    }
    return (await this.#asked.isReady) && !this.#isEnding;
  }
}
