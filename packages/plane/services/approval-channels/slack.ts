// Asks in a Slack channel. A person answers by a button, or by 👍 or 👎 under the message; only
// those on the list are heard, and everybody else is told so.

import type { WebClient } from '@slack/web-api';
import { isObject } from '@subluminal/contracts';
import type { Decided, Desk } from '../../stores/approvals/desk.ts';
import type { Ended, Entry } from '../../stores/approvals/queue.ts';
import { type Channel, type RunningChannel, tellEach } from './channel.ts';
import { claimsOf } from './claims.ts';
import { Nonces } from './nonces.ts';
import { endMessage, requestMessage } from './slack-message.ts';
import { type Press, verifySlack } from './slack-sign.ts';
import type { Told } from './teller.ts';
import type { HttpAnswer } from './webhook.ts';
import { type Headers, WINDOW_MS } from './webhook-sign.ts';

export interface SlackConfig {
  readonly token: string;
  readonly signingSecret: string;
  /** The id of the channel. */
  readonly channel: string;
  /** Ids of those who may decide. */
  readonly users: readonly string[];
  /** How often reactions are looked at. */
  readonly pollMs: number;
  readonly timeoutMs: number;
  /** Another address than Slack's. */
  readonly apiUrl?: string | undefined;
}

interface Posted {
  readonly channel: string;
  readonly ts: string;
  readonly isWhole: boolean;
}

interface Open {
  readonly entry: Entry;
  readonly posted: Posted;
  /** Who was told that they may not decide. */
  readonly told: Set<string>;
}

const NAME = 'slack';
/** Messages whose reactions are looked at in one round. */
const POLLED_MAX = 20;
const TOLD_MAX = 20;
const UP = /^(?:\+1|thumbsup)(?:::skin-tone-[2-6])?$/;
const DOWN = /^(?:-1|thumbsdown)(?:::skin-tone-[2-6])?$/;
const NOT_YOU = 'You are not on the list of those who may decide about this.';

export const slack: Channel<SlackConfig> = {
  name: NAME,
  start: (desk, config) => new SlackChannel(desk, config),
};

/** Only who uses Slack pays for its client, and only when there is something to say. */
function lazyClient(config: SlackConfig): () => Promise<WebClient> {
  let client: WebClient | undefined;
  return async () => {
    const { slackClient } = await import('./slack-client.ts');
    client ??= slackClient(config);
    return client;
  };
}

class SlackChannel implements RunningChannel {
  readonly #desk: Desk;
  readonly #config: SlackConfig;
  readonly #client: () => Promise<WebClient>;
  readonly #open = new Map<string, Open>();
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
    this.#channel = tellEach(desk, NAME, {
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

  /** Does a step behind those before it; what it comes to, or something else when it fails. */
  #inTurn<T>(step: () => Promise<T>, otherwise: T): Promise<T> {
    const done = this.#work.then(step).catch((cause: unknown) => {
      this.#desk.ports.warn?.(`Slack: ${troubleOf(cause)}.`);
      return otherwise;
    });
    this.#work = done.then(() => undefined);
    return done;
  }

  async #post(entry: Entry): Promise<Told> {
    if (this.#isStopped) return { kind: 'later' };
    const { isWhole, text, blocks } = requestMessage(entry);
    const quiet = { unfurl_links: false, unfurl_media: false, parse: 'none' } as const;
    const { channel } = this.#config;
    const client = await this.#client();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- Slack's, not a window's.
    const { ts } = await client.chat.postMessage({ channel, text, blocks, ...quiet });
    if (ts === undefined) throw new Error('it gave no id for the message');
    const value: Posted = { channel, ts, isWhole };
    return { kind: 'told', value };
  }

  #remember(entry: Entry, value: unknown): void {
    const posted = postedOf(value);
    if (posted === undefined) return;
    this.#open.set(entry.request.id, { entry, posted, told: new Set() });
  }

  /** The buttons go, and everybody sees who decided. */
  async #update(ended: Ended, value: unknown): Promise<boolean> {
    const id = ended.kind === 'request' ? ended.request.id : ended.id;
    const request = ended.kind === 'request' ? ended.request : this.#open.get(id)?.entry.request;
    const posted = postedOf(value);
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

  async #react(id: string, open: Open): Promise<void> {
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
    const decided = this.#desk.decide(id, { state, by: `slack:${by}`, channel: NAME, sha256 });
    if (decided.kind === 'failure') this.#desk.ports.warn?.(decided.message);
  }

  /** The first of those who may decide; the others are told once that they may not. */
  async #heard(
    { posted, told }: Open,
    name: RegExp,
    reactions: readonly { readonly name?: string; readonly users?: readonly string[] }[],
  ): Promise<string | undefined> {
    const users = reactions.flatMap((one) => (name.test(one.name ?? '') ? (one.users ?? []) : []));
    for (const user of users) {
      if (this.#config.users.includes(user)) return user;
      if (told.has(user) || told.size >= TOLD_MAX) continue;
      told.add(user);
      const client = await this.#client();
      await client.chat.postEphemeral({ channel: posted.channel, user, text: NOT_YOU });
    }
    return undefined;
  }
}

function postedOf(value: unknown): Posted | undefined {
  if (!isObject(value)) return undefined;
  const { channel, ts, isWhole } = value;
  if (typeof channel !== 'string' || typeof ts !== 'string') return undefined;
  return { channel, ts, isWhole: isWhole === true };
}

/** The code that Slack gives; never its request, which holds the token. */
function troubleOf(cause: unknown): string {
  if (isObject(cause) && isObject(cause['data']) && typeof cause['data']['error'] === 'string') {
    return `it refused (${cause['data']['error'].slice(0, 80)})`;
  }
  return isObject(cause) && typeof cause['code'] === 'string'
    ? `it cannot be used (${cause['code'].slice(0, 80)})`
    : 'it cannot be used';
}

const REFUSALS = {
  unsigned: { status: 401, body: { error: 'the signature is missing' } },
  forged: { status: 401, body: { error: 'the signature is wrong' } },
  stale: { status: 401, body: { error: 'the timestamp is too old or too new' } },
  malformed: { status: 400, body: { error: 'the payload is not readable' } },
} as const;
const FINE: HttpAnswer = { status: 200, body: {} };

interface Interaction {
  readonly headers: Headers;
  readonly rawBody: Uint8Array;
}

/** What the address for interactions answers to Slack. Made once for a process. */
export function slackAnswers(
  desk: Desk,
  config: SlackConfig,
): (interaction: Interaction) => Promise<HttpAnswer> {
  const nonces = new Nonces();
  const client = lazyClient(config);
  const tell = async ({ userId }: Press, text: string) => {
    const { channel } = config;
    try {
      await (await client()).chat.postEphemeral({ channel, user: userId, text });
    } catch (cause) {
      desk.ports.warn?.(`Slack: ${troubleOf(cause)}.`);
    }
  };
  return async ({ headers, rawBody }) => {
    const nowMs = desk.ports.nowMs();
    const verified = verifySlack(headers, rawBody, { secret: config.signingSecret, nowMs });
    if (!verified.ok) return REFUSALS[verified.why];
    const { press } = verified;
    if (press === null) return FINE;
    if (!nonces.take(press.nonce, nowMs, 2 * WINDOW_MS)) {
      return { status: 409, body: { error: 'this press was taken before' } };
    }
    if (press.channelId !== config.channel || !config.users.includes(press.userId)) {
      await tell(press, NOT_YOU);
      return FINE;
    }
    const words = wordsOf(pressed(desk, press));
    if (words !== undefined) await tell(press, words);
    return FINE;
  };
}

function pressed(desk: Desk, { id, action, userId, userName, sha256 }: Press): Decided {
  const posted = postedOf(claimsOf(desk.queue, desk.ports, NAME).done(id)?.value);
  // A button that we did not show: the call did not fit into the message.
  if (action === 'approve' && posted?.isWhole !== true) return { kind: 'changed' };
  const by = userName === '' ? `slack:${userId}` : `slack:${userId} (${userName})`;
  const state = action === 'approve' ? 'approved' : 'rejected';
  return desk.decide(id, { state, by, channel: NAME, sha256 });
}

/** What whoever pressed the button should know. */
function wordsOf(decided: Decided): string | undefined {
  switch (decided.kind) {
    case 'ended':
      return undefined;
    case 'already':
      return `Too late: it was ${decided.outcome.state} before.`;
    case 'changed':
    case 'missing':
    case 'damaged':
      return 'This request is not there any more, or is not what was shown. Nothing was decided.';
    default:
      return 'Your answer could not be kept. Nothing was decided.';
  }
}
