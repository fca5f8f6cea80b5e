// Groups what comes within one moment: while one group is on its way, the next one gathers.
import { setTimeout as wait } from 'node:timers/promises';
import { isStoreDown, storeFailure } from './store-failure.ts';

export interface GroupOptions<Item, Result> {
  /** One result for each item, in order; the items happen all, or none. Doing them twice changes nothing. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly itemsMax: number;
  /** Items that wait at most: beyond it the database can't keep up, and the caller is told. */
  readonly waitingMax: number;
  /** How long a database that is away is waited for. */
  readonly patienceMs: number;
}

/**
 * Turns of the event loop whose items belong to one group. Most of a small group's cost is its commit; a second turn
 * makes groups a third larger under load, and takes no time when nothing else is to do.
 */
const GATHERING_TURNS = 2;
const FIRST_PAUSE_MS = 25;
const PAUSE_MS_MAX = 1_000;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (cause: unknown) => void;
}

export class GroupedWork<Item, Result> {
  readonly #options: GroupOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #isRunning = false;
  #idle: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: GroupOptions<Item, Result>) {
    this.#options = options;
  }

  add(item: Item): Promise<Result> {
    const { waitingMax } = this.#options;
    if (this.#isClosed) return Promise.reject(storeFailure('SUB_STORE_DOWN', 'It was closed.'));
    if (this.#waiting.length >= waitingMax) {
      return Promise.reject(storeFailure('SUB_STORE_BUSY', `${waitingMax} writes wait already.`));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      this.#idle = this.#drain();
    });
  }

  /** Nothing more is taken; resolves when what was taken has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#idle;
  }

  async #drain(): Promise<void> {
    for (let turn = 0; turn < GATHERING_TURNS; turn += 1) await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#options.itemsMax);
      await this.#runGroup(group);
    }
    this.#isRunning = false;
  }

  async #runGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#runPatiently(group.map(({ item }) => item));
      for (const [place, result] of results.entries()) group[place]?.resolve(result);
    } catch (cause) {
      const [only, ...others] = group;
      if (others.length === 0 || isStoreDown(cause)) {
        for (const { reject } of group) reject(cause);
        return;
      }
      // One that the database refuses must not take the others along.
      if (only !== undefined) await this.#runGroup([only]);
      for (const other of others) await this.#runGroup([other]);
    }
  }

  async #runPatiently(items: readonly Item[]): Promise<readonly Result[]> {
    const { run, patienceMs } = this.#options;
    const endMs = performance.now() + patienceMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      try {
        return await run(items);
      } catch (cause) {
        if (!isStoreDown(cause) || performance.now() + pauseMs > endMs) throw cause;
        await wait(pauseMs);
      }
    }
  }
}
