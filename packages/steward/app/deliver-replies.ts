// Brings replies to their channel, in their order and across restarts.
import type { ChatAddress } from '../channels/index.ts';
import type { Conversation, Journal, JournalMessage } from '../journal/index.ts';
import { channelOf } from '../loop/index.ts';

export interface DeliveryParts {
  readonly journal: Journal;
  readonly reply: (
    to: ChatAddress,
    text: string,
  ) => Promise<
    { readonly kind: 'sent' } | { readonly kind: 'later' | 'refused'; readonly why: string }
  >;
  readonly log: (line: string) => void;
}

/** The heartbeat says so when there is nothing to tell. */
const NOTHING = /^\W*NOTHING\W*$/;

/** Whether whoever is there reads the journal by the control API. */
export function isReader(channel: string): boolean {
  return channel === 'terminal' || channel === 'web';
}

/** One that its channel does not take now is tried at the next start. */
export class ReplyDelivery {
  readonly #parts: DeliveryParts;
  readonly #tried = new Set<number>();
  readonly #unfollow: () => void;
  #sending: Promise<void> = Promise.resolve();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#unfollow = parts.journal.onChange(() => this.#look());
    this.#look();
  }

  async stop(): Promise<void> {
    this.#unfollow();
    await this.#sending;
  }

  #look(): void {
    for (const message of this.#parts.journal.unsentMessages()) {
      if (this.#tried.has(message.n)) continue;
      this.#tried.add(message.n);
      this.#sending = this.#sending.then(() => this.#send(message));
    }
  }

  async #send(message: JournalMessage): Promise<void> {
    const { journal, reply, log } = this.#parts;
    const conversation = journal.conversation(message.conversationId);
    if (conversation === undefined) return;
    // What a sub-agent says is told by who started it.
    if (conversation.parentId !== null) return journal.setSent(message.n);
    const channel = channelOf(conversation.channel);
    if (channel === 'schedule') return this.#tellUser(message, conversation);
    if (!isReader(channel)) {
      const sent = await reply({ channel, conversation: conversation.address }, message.text);
      if (sent.kind !== 'sent') log(`${channel}: ${sent.why}`);
      if (sent.kind === 'later') return;
    }
    journal.setSent(message.n);
  }

  /** What background work found goes to who asked for it, else to where they have written last. */
  #tellUser(message: JournalMessage, { address }: Conversation): void {
    const { journal } = this.#parts;
    const target = journal.conversation(address) ?? journal.lastConversation();
    if (target === undefined || NOTHING.test(message.text)) return journal.setSent(message.n);
    journal.passOn(message, target.id);
  }
}
