// Asks in a Slack channel, and reads 👍 and 👎 under its messages. Only people on the list decide;
// everybody else gets a reply that says so.

import type { WebClient } from '@slack/web-api';
import type { Desk, Ended, Entry } from '../../../stores/approvals/index.ts';
import {
  type AnnounceResult,
  RequestFollower,
  type RunningChannel,
} from '../shared/announce-requests.ts';
import {
  lazyClient,
  NOT_ON_LIST,
  type PostedMessage,
  readPosted,
  type SlackConfig,
  slackErrorText,
} from './client.ts';
import { endMessage, requestMessage } from './message.ts';

interface OpenMessage {
  readonly entry: Entry;
  readonly posted: PostedMessage;
  /** Users who know that they may not decide. */
  readonly told: Set<string>;
}

/** Messages whose reactions are looked at in one round. */
const POLLED_MAX = 20;
const TOLD_MAX = 20;
const UP = /^(?:\+1|thumbsup)(?:::skin-tone-[2-6])?$/;
const DOWN = /^(?:-1|thumbsdown)(?:::skin-tone-[2-6])?$/;

export class SlackChannel implements RunningChannel {
  readonly #desk: Desk;
  readonly #config: SlackConfig;
  readonly #client: () => Promise<WebClient>;
  readonly #open = new Map<string, OpenMessage>();
  readonly #channel: RunningChannel;
  readonly #poll: NodeJS.Timeout;
  /** One thing after the other: Slack limits the rate, and the order matters. */
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;
  #isPolling = false;

  constructor(desk: Desk, config: SlackConfig) {
    this.#desk = desk;
    this.#config = config;
    this.#client = lazyClient(config);
    this.#channel = new RequestFollower(desk, 'slack', {
      tell: (entry) => this.#inTurn(() => this.#post(entry), { kind: 'later' }),
      known: (entry, value) => this.#remember(entry, value),
      ended: (ended, value) => this.#inTurn(() => this.#update(ended, value), false),
    });
    this.#poll = setInterval(() => this.#lookAtReactions(), config.pollMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#poll);
    await this.#channel.stop();
    await this.#work;
  }

  /** Runs a step after those before it; `otherwise` when it fails. */
  #inTurn<T>(step: () => Promise<T>, otherwise: T): Promise<T> {
    const done = this.#work.then(step).catch((cause: unknown) => {
      this.#desk.ports.warn?.(`Slack: ${slackErrorText(cause)}.`);
      return otherwise;
    });
    this.#work = done.then(() => undefined);
    return done;
  }

  async #post(entry: Entry): Promise<AnnounceResult> {
    if (this.#isStopped) return { kind: 'later' };
    const { isWhole, text, blocks } = requestMessage(entry);
    const quiet = { unfurl_links: false, unfurl_media: false, parse: 'none' } as const;
    const { channel } = this.#config;
    const client = await this.#client();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- Slack's, not a window's.
    const { ts } = await client.chat.postMessage({ channel, text, blocks, ...quiet });
    if (ts === undefined) throw new Error('it gave no id for the message');
    const value: PostedMessage = { channel, ts, isWhole };
    return { kind: 'told', value };
  }

  #remember(entry: Entry, value: unknown): void {
    const posted = readPosted(value);
    if (posted === undefined) return;
    this.#open.set(entry.request.id, { entry, posted, told: new Set() });
  }

  /** The buttons go, and everybody sees who decided. */
  async #update(ended: Ended, value: unknown): Promise<boolean> {
    const id = ended.kind === 'request' ? ended.request.id : ended.id;
    const request = ended.kind === 'request' ? ended.request : this.#open.get(id)?.entry.request;
    const posted = readPosted(value);
    this.#open.delete(id);
    if (posted === undefined || request === undefined) return true;
    const { channel, ts } = posted;
    const client = await this.#client();
    await client.chat.update({ channel, ts, ...endMessage(request, ended) });
    return true;
  }

  #lookAtReactions(): void {
    // A slow answer must not let rounds pile up.
    if (this.#isPolling || this.#open.size === 0) return;
    this.#isPolling = true;
    const round = async () => {
      for (const [id, open] of [...this.#open].slice(0, POLLED_MAX)) {
        // To the back: those behind it have their turn in the next round.
        if (this.#open.delete(id)) this.#open.set(id, open);
        await this.#react(id, open);
      }
    };
    void this.#inTurn(round, undefined).finally(() => {
      this.#isPolling = false;
    });
  }

  async #react(id: string, open: OpenMessage): Promise<void> {
    if (this.#isStopped) return;
    const { channel, ts, isWhole } = open.posted;
    const client = await this.#client();
    const { message } = await client.reactions.get({ channel, timestamp: ts, full: true });
    const down = await this.#heard(open, DOWN, message?.reactions ?? []);
    const up = await this.#heard(open, UP, message?.reactions ?? []);
    // Two opinions are no approval.
    const by = down ?? up;
    if (by === undefined || (down === undefined && !isWhole)) return;
    const state = down === undefined ? 'approved' : 'rejected';
    const { sha256 } = open.entry;
    const decided = this.#desk.decide(id, { state, by: `slack:${by}`, channel: 'slack', sha256 });
    if (decided.kind === 'failure') this.#desk.ports.warn?.(decided.message);
  }

  /** The first of those who may decide; the others are told once that they may not. */
  async #heard(
    { posted, told }: OpenMessage,
    name: RegExp,
    reactions: readonly { readonly name?: string; readonly users?: readonly string[] }[],
  ): Promise<string | undefined> {
    const users = reactions.flatMap((one) => (name.test(one.name ?? '') ? (one.users ?? []) : []));
    for (const user of users) {
      if (this.#config.users.includes(user)) return user;
      if (told.has(user) || told.size >= TOLD_MAX) continue;
      told.add(user);
      const client = await this.#client();
      await client.chat.postEphemeral({ channel: posted.channel, user, text: NOT_ON_LIST });
    }
    return undefined;
  }
}
