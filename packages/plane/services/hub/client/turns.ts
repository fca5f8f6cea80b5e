// One thing after the other, in the order of asking.

export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** How many have not ended yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Does it when all before it have ended, well or not. */
  run<T>(task: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const done = this.#last.then(task).finally(() => {
      this.#waiting--;
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when all that were asked for by now have ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
