// Work for conversations: in order within each of them, and bounded.
import type { ChatAddress } from '../shared/types.ts';

export class ConversationQueue {
  readonly #waitingMax: number;
  readonly #queues = new Map<string, { waiting: number; tail: Promise<unknown> }>();

  /** How much may wait in one conversation. */
  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Undefined when too much waits there. What rejects would stop what comes after it. */
  add<T>({ channel, conversation }: ChatAddress, work: () => Promise<T>): Promise<T> | undefined {
    const key = `${channel}:${conversation}`;
    const queue = this.#queues.get(key) ?? { waiting: 0, tail: Promise.resolve() };
    if (queue.waiting >= this.#waitingMax) return undefined;
    queue.waiting += 1;
    const done = queue.tail.then(work).finally(() => {
      queue.waiting -= 1;
      if (queue.waiting === 0) this.#queues.delete(key);
    });
    queue.tail = done;
    this.#queues.set(key, queue);
    return done;
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#queues.values()].map(({ tail }) => tail));
  }
}
