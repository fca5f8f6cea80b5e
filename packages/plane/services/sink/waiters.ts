// Who waits for the lines to arrive somewhere, each with its own patience.

interface Waiter {
  readonly isDone: () => boolean;
  readonly resolve: (isDone: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

export class Waiters {
  readonly #waiting = new Set<Waiter>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Resolves with true when it is done, with false when time is up. */
  wait(isDone: () => boolean, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end(waiter, false), timeoutMs);
      const waiter: Waiter = { isDone, resolve, timer };
      this.#waiting.add(waiter);
    });
  }

  /** Something has moved: lets those go who have what they waited for. */
  check(): void {
    if (this.#waiting.size === 0) return;
    for (const waiter of this.#waiting) {
      if (waiter.isDone()) this.#end(waiter, true);
    }
  }

  #end(waiter: Waiter, isDone: boolean): void {
    clearTimeout(waiter.timer);
    this.#waiting.delete(waiter);
    waiter.resolve(isDone);
  }
}
