// Accepted messages on their way to the agent: in order within a conversation, and bounded.
import type { InboundMessage } from '../shared/types.ts';

const CONVERSATION_MAX = 20;
const ALL_MAX = 200;

type Taken = 'taken' | 'failed' | 'busy' | 'twice';

export class Inbox {
  readonly #receive: (message: InboundMessage) => Promise<void>;
  readonly #chains = new Map<string, { waiting: number; tail: Promise<unknown> }>();
  readonly #underWay = new Set<string>();

  constructor(receive: (message: InboundMessage) => Promise<void>) {
    this.#receive = receive;
  }

  async take(message: InboundMessage): Promise<Taken> {
    const id = `${message.channel}:${message.messageId}`;
    if (this.#underWay.has(id)) return 'twice';
    const key = `${message.channel}:${message.conversation}`;
    const chain = this.#chains.get(key) ?? { waiting: 0, tail: Promise.resolve() };
    if (chain.waiting >= CONVERSATION_MAX || this.#underWay.size >= ALL_MAX) return 'busy';
    chain.waiting += 1;
    this.#underWay.add(id);
    const done = chain.tail
      .then(() => this.#receive(message))
      .then(
        () => 'taken' as const,
        () => 'failed' as const,
      )
      .finally(() => {
        chain.waiting -= 1;
        this.#underWay.delete(id);
        if (chain.waiting === 0) this.#chains.delete(key);
      });
    chain.tail = done;
    this.#chains.set(key, chain);
    return done;
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#chains.values()].map(({ tail }) => tail));
  }
}
