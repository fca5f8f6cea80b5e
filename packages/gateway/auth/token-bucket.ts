// Rates by token bucket: so many at once, and so many a minute after that. Per process, and bounded in memory.

export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const BUCKETS_MAX = 10_000;
const MINUTE_MS = 60_000;

export class TokenBuckets {
  readonly #rate: Rate;
  readonly #bucketsMax: number;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, bucketsMax = BUCKETS_MAX) {
    this.#rate = rate;
    this.#bucketsMax = bucketsMax;
  }

  /** 0 when there was a token, which is then taken; else how long until there is one. */
  take(key: string, nowMs: number): number {
    const waitMs = this.waitMs(key, nowMs);
    if (waitMs > 0) return waitMs;
    const bucket = this.#filled(key, nowMs);
    bucket.tokens -= 1;
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#bucketsMax) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    return 0;
  }

  /** The same, without taking one. */
  waitMs(key: string, nowMs: number): number {
    const { tokens } = this.#filled(key, nowMs);
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * MINUTE_MS) / this.#rate.perMinute);
  }

  #filled(key: string, nowMs: number): Bucket {
    const { burst, perMinute } = this.#rate;
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return { tokens: burst, atMs: nowMs };
    // A clock that goes back gives nothing.
    const gained = (Math.max(0, nowMs - bucket.atMs) * perMinute) / MINUTE_MS;
    return { tokens: Math.min(burst, bucket.tokens + gained), atMs: Math.max(nowMs, bucket.atMs) };
  }
}
