// Accepted messages on their way to the agent: in order within a conversation, and bounded.
import type { InboundMessage } from '../shared/types.ts';
import { ConversationQueue } from './conversation-queue.ts';

const CONVERSATION_MAX = 20;
const ALL_MAX = 200;

type Taken = 'taken' | 'failed' | 'busy' | 'twice';

export class Inbox {
  readonly #receive: (message: InboundMessage) => Promise<void>;
  readonly #queue = new ConversationQueue(CONVERSATION_MAX);
  readonly #underWay = new Set<string>();

  constructor(receive: (message: InboundMessage) => Promise<void>) {
    this.#receive = receive;
  }

  async take(message: InboundMessage): Promise<Taken> {
    const id = `${message.channel}:${message.messageId}`;
    if (this.#underWay.has(id)) return 'twice';
    if (this.#underWay.size >= ALL_MAX) return 'busy';
    const done = this.#queue.add(message, () => this.#hand(message));
    if (done === undefined) return 'busy';
    this.#underWay.add(id);
    return done.finally(() => this.#underWay.delete(id));
  }

  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async #hand(message: InboundMessage): Promise<Taken> {
    try {
      await this.#receive(message);
      return 'taken';
    } catch {
      return 'failed';
    }
  }
}
