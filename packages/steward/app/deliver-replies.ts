// Brings replies to their channel, in the order of their conversation and across restarts.
import { errorText } from '@subluminal/plane/os';
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
  /** Resolves after that time; rejects when the signal says so. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: (line: string) => void;
}

/** The heartbeat says so when there is nothing to tell. */
const NOTHING = /^\W*NOTHING\W*$/;
/** How long a conversation waits whose channel takes nothing now. */
const RETRY_MS = 60_000;

/** Whether whoever is there reads the journal by the control API. */
export function isReader(channel: string): boolean {
  return channel === 'terminal' || channel === 'web';
}

/** A conversation whose channel is away holds up no other. */
export class ReplyDelivery {
  readonly #parts: DeliveryParts;
  readonly #unfollow: () => void;
  readonly #stopping = new AbortController();
  /** By conversation. */
  readonly #delivering = new Map<string, Promise<void>>();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#unfollow = parts.journal.onChange(() => this.#look());
    this.#look();
  }

  /** Begins nothing more: what was not sent is tried at the next start. */
  stop(): void {
    this.#unfollow();
    this.#stopping.abort();
  }

  /** Resolves when nothing is under way; channels that are stopped end what is. */
  async settled(): Promise<void> {
    await Promise.all(this.#delivering.values());
  }

  #look(): void {
    for (const { conversationId: id } of this.#parts.journal.unsentMessages()) {
      if (this.#delivering.has(id)) continue;
      // Not at once: it writes to the journal, which then looks here again.
      this.#delivering.set(
        id,
        Promise.resolve().then(() => this.#deliver(id)),
      );
    }
  }

  async #deliver(id: string): Promise<void> {
    const { journal, wait, log } = this.#parts;
    const { signal } = this.#stopping;
    const isOf = ({ conversationId }: JournalMessage) => conversationId === id;
    try {
      while (!signal.aborted) {
        const message = journal.unsentMessages().find(isOf);
        if (message === undefined) return;
        if (!(await this.#send(message))) await wait(RETRY_MS, signal).catch(() => undefined);
      }
    } catch (cause) {
      log(`A reply could not be delivered: ${errorText(cause)}.`);
    } finally {
      this.#delivering.delete(id);
    }
  }

  /** False when it is to be tried again. */
  async #send(message: JournalMessage): Promise<boolean> {
    const { journal, reply, log } = this.#parts;
    const conversation = journal.conversation(message.conversationId);
    // What a sub-agent says is told by who started it.
    if (conversation?.parentId === null) {
      const channel = channelOf(conversation.channel);
      if (channel === 'schedule') return this.#tellUser(message, conversation);
      if (!isReader(channel)) {
        const sent = await reply({ channel, conversation: conversation.address }, message.text);
        if (sent.kind === 'later') return false;
        if (sent.kind === 'refused') log(`A reply on ${channel} is given up: ${sent.why}`);
      }
    }
    journal.setSent(message.n);
    return true;
  }

  /** What background work found goes to who asked for it, else to where they have written last. */
  #tellUser(message: JournalMessage, { address }: Conversation): true {
    const { journal } = this.#parts;
    const target = journal.conversation(address) ?? journal.lastConversation();
    if (target === undefined || NOTHING.test(message.text)) journal.setSent(message.n);
    else journal.passOn(message, target.id);
    return true;
  }
}
