/** Counts the time of work on a task, without that of waiting for a person. */
export class WorkClock {
  readonly #nowMs: () => number;
  #workMs = 0;
  #sinceMs: number;
  #takenMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#sinceMs = nowMs();
  }

  get workMs(): number {
    return this.#workMs + Math.max(0, this.#nowMs() - this.#sinceMs);
  }

  /** What was not taken before. */
  takeMs(): number {
    const { workMs } = this;
    const taken = workMs - this.#takenMs;
    this.#takenMs = workMs;
    return taken;
  }

  async paused<T>(wait: () => Promise<T>): Promise<T> {
    this.#workMs = this.workMs;
    this.#sinceMs = Number.POSITIVE_INFINITY;
    try {
      return await wait();
    } finally {
      this.#sinceMs = this.#nowMs();
    }
  }
}
