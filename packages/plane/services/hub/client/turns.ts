// A queue of requests to the hub that must go one after the other.
import { type Unread, unread } from './unread.ts';

export class Turns {
  readonly #queueMax: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(queueMax: number) {
    this.#queueMax = queueMax;
  }

  /** Runs `task` when all before it have ended. Never rejects. */
  take<T>(task: () => Promise<T>): Promise<T | Unread> {
    if (this.#waiting >= this.#queueMax) {
      return Promise.resolve(unread('too many requests wait for the hub'));
    }
    this.#waiting++;
    const done = this.#last
      .then(task)
      .catch((cause: unknown) => {
        const what = cause instanceof Error ? cause.message : String(cause);
        return unread(`the hub could not be asked: ${what}`);
      })
      .finally(() => {
        this.#waiting--;
      });
    this.#last = done;
    return done;
  }

  /** Resolves when all that were queued by now have ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
