// Sends messages: one after the other in each conversation, again when the service is away, and never
// without saying what was lost.
import type {
  Channel,
  ChatAddress,
  OutboundMessage,
  SendResult,
  SettledQuestion,
} from '../shared/types.ts';
import { ConversationQueue } from './conversation-queue.ts';
import { RateWindow } from './rate-window.ts';

interface OutboxOptions {
  readonly nowMs: () => number;
  /** Resolves after that time, or at once when the signal says so. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const TRIES_MAX = 7;
const WAIT_MIN_MS = 1_000;
const WAIT_MAX_MS = 60_000;
/** Messages, or groups of parts, that wait in one conversation. */
const QUEUE_MAX = 50;
/** An agent that talks without end is stopped. */
const SENDS_MAX = { countMax: 60, windowMs: 60_000 };
const STOPPED: SendResult = { kind: 'later', why: 'The channel was stopped.' };

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #rates = new RateWindow(SENDS_MAX);
  readonly #queue = new ConversationQueue(QUEUE_MAX);
  readonly #stop = new AbortController();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** All of them in a row, with nothing in between; the result of the last, or of the first that failed. */
  send(
    channel: Channel,
    to: ChatAddress,
    messages: readonly OutboundMessage[],
  ): Promise<SendResult> {
    return this.#inTurn(to, async () => {
      let last: SendResult = { kind: 'refused', why: 'There is nothing to send.' };
      for (const [at, message] of messages.entries()) {
        last = await this.#persist(to, () => channel.send(to, message));
        if (last.kind === 'sent') continue;
        const left = messages.length - at;
        return { ...last, why: `${last.why} ${left} of ${messages.length} parts were not sent.` };
      }
      return last;
    });
  }

  settle(channel: Channel, to: ChatAddress, over: SettledQuestion): Promise<SendResult> {
    return this.#inTurn(to, () => this.#persist(to, () => channel.settle(to, over)));
  }

  /** Gives up what waits, and resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#queue.settled();
  }

  async #persist(to: ChatAddress, once: () => Promise<SendResult>): Promise<SendResult> {
    const { nowMs, wait } = this.#options;
    if (this.#rates.take(`${to.channel}:${to.conversation}`, nowMs()) !== 'within') {
      return { kind: 'refused', why: 'Too many messages went there within a minute.' };
    }
    for (let tries = 1; ; tries++) {
      if (this.#stop.signal.aborted) return STOPPED;
      const result = await once();
      if (result.kind !== 'later' || tries === TRIES_MAX) return result;
      const pauseMs = Math.max(WAIT_MIN_MS * 2 ** (tries - 1), result.afterMs ?? 0);
      // Whoever sends has more patience than this, or has not.
      if (pauseMs > WAIT_MAX_MS) return result;
      await wait(pauseMs, this.#stop.signal).catch(() => undefined);
    }
  }

  #inTurn(to: ChatAddress, work: () => Promise<SendResult>): Promise<SendResult> {
    // A defect of one channel must not end the process that runs the others.
    const failed: SendResult = { kind: 'refused', why: 'The channel has failed.' };
    const full: SendResult = { kind: 'refused', why: 'Too many messages wait for that chat.' };
    return this.#queue.add(to, () => work().catch(() => failed)) ?? Promise.resolve(full);
  }
}
