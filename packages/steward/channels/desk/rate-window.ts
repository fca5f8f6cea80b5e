// How often something may happen, for each of many.

interface RateLimit {
  readonly countMax: number;
  readonly windowMs: number;
}

type RateVerdict =
  | 'within'
  /** The first one too many: somebody is told once. */
  | 'first_over'
  | 'over';

const KEYS_MAX = 2_000;

export class RateWindow {
  readonly #limit: RateLimit;
  /** In the order in which their windows began. */
  readonly #windows = new Map<string, { readonly startMs: number; count: number }>();

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  take(key: string, nowMs: number): RateVerdict {
    const { countMax, windowMs } = this.#limit;
    const open = this.#windows.get(key);
    if (open === undefined || nowMs - open.startMs >= windowMs) {
      this.#windows.delete(key);
      this.#windows.set(key, { startMs: nowMs, count: 1 });
      const [oldest] = this.#windows.keys();
      if (this.#windows.size > KEYS_MAX && oldest !== undefined) this.#windows.delete(oldest);
      return 'within';
    }
    open.count += 1;
    if (open.count <= countMax) return 'within';
    return open.count === countMax + 1 ? 'first_over' : 'over';
  }
}
