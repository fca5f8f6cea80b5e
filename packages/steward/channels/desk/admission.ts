// Which messages may reach the agent. Nothing of an unknown sender does: they get a code to be paired
// with, and nothing else.
import type {
  ButtonPress,
  ChannelAccess,
  ChannelName,
  ChatAddress,
  ChatPerson,
  InboundMessage,
} from '../shared/types.ts';
import type { ChannelStore } from './channel-store.ts';
import { PairingCodes } from './pairing-codes.ts';
import { RateWindow } from './rate-window.ts';

export type Admission =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'ignored'; readonly why: IgnoreReason }
  /** Not accepted, and the sender is told why. */
  | { readonly kind: 'answered'; readonly why: IgnoreReason; readonly text: string };

export type IgnoreReason =
  | 'malformed'
  | 'group'
  | 'stranger'
  | 'replay'
  | 'late'
  | 'flood'
  | 'forwarded';

const MINUTE_MS = 60_000;
/** A message that was under way longer than this is not acted on: times and wishes have changed. */
const AGE_MAX_MS = 15 * MINUTE_MS;
/** Clocks differ. */
const AHEAD_MAX_MS = 5 * MINUTE_MS;
/** Longer than a message is believed, so that none passes twice. */
const TAKEN_KEEP_MS = 2 * (AGE_MAX_MS + AHEAD_MAX_MS);
const TEXT_LENGTH_MAX = 16_000;
const ID_LENGTH_MAX = 256;

const WORDS = {
  late: 'You wrote this while I was away. Send it again if it still matters.',
  flood: 'That is too much at once. I go on listening in a minute.',
  forwarded:
    'Somebody else wrote what you forward, so I take it for no wish of yours. Say in your own words what to do.',
  empty: 'I read text only.',
  long: `That is longer than the ${TEXT_LENGTH_MAX} characters that I read in one message.`,
};

export class Admissions {
  readonly #access: ReadonlyMap<ChannelName, ChannelAccess>;
  readonly #store: ChannelStore;
  readonly #codes = new PairingCodes();
  readonly #ofSender = new RateWindow({ countMax: 20, windowMs: MINUTE_MS });
  /** Of all who are known: one of them, or the service itself, has gone wild. */
  readonly #ofChannel = new RateWindow({ countMax: 60, windowMs: MINUTE_MS });
  /** Strangers have a limit of their own: they must not use up that of the user. */
  readonly #strangers = new RateWindow({ countMax: 10, windowMs: 60 * MINUTE_MS });
  readonly #brokenUntilMs = new Map<ChannelName, number>();

  constructor(access: ReadonlyMap<ChannelName, ChannelAccess>, store: ChannelStore) {
    this.#access = access;
    this.#store = store;
  }

  /** Whether this sender may write and decide. */
  isKnown(person: Pick<ChatPerson, 'channel' | 'sender'>): boolean {
    const access = this.#access.get(person.channel);
    if (access === undefined) return false;
    return access.allowed.includes(person.sender) || this.#store.isPaired(person);
  }

  isGroup({ channel, conversation }: ChatAddress): boolean {
    return this.#access.get(channel)?.groups.includes(conversation) === true;
  }

  admit(message: InboundMessage, nowMs: number): Admission {
    if (!isWellFormed(message)) return ignored('malformed');
    const { channel, messageId, atMs } = message;
    const isForUs = message.isMention && this.isGroup(message);
    if (message.place === 'group' && !isForUs) return ignored('group');
    if (!this.isKnown(message)) return this.#stranger(message, nowMs);
    if (this.#store.wasTaken(channel, messageId) || atMs > nowMs + AHEAD_MAX_MS) {
      return ignored('replay');
    }
    const flood = this.#flood(message, nowMs);
    if (flood !== undefined) return flood;
    if (atMs < nowMs - AGE_MAX_MS) return { kind: 'answered', why: 'late', text: WORDS.late };
    // Its text would count as the user's own words, and whom it names as named by the user.
    if (message.isForwarded === true) {
      return { kind: 'answered', why: 'forwarded', text: WORDS.forwarded };
    }
    const { length } = message.text.trim();
    if (length === 0) return { kind: 'answered', why: 'malformed', text: WORDS.empty };
    if (length > TEXT_LENGTH_MAX) return { kind: 'answered', why: 'malformed', text: WORDS.long };
    return { kind: 'accepted' };
  }

  /** Whether a press is looked at; presses count as messages do. */
  admitPress(press: ButtonPress, nowMs: number): boolean {
    if ((this.#brokenUntilMs.get(press.channel) ?? 0) > nowMs) return false;
    return this.#ofSender.take(`${press.channel}:${press.sender}`, nowMs) === 'within';
  }

  markTaken({ channel, messageId }: InboundMessage, nowMs: number): void {
    this.#store.markTaken(channel, messageId, { nowMs, keepMs: TAKEN_KEEP_MS });
  }

  /** The sender whom a code was given to; from now on they may write. */
  pair(code: string, nowMs: number) {
    const redeemed = this.#codes.redeem(code, nowMs);
    if (redeemed.kind === 'found') this.#store.pair({ ...redeemed.pending, atMs: nowMs });
    return redeemed;
  }

  #stranger(message: InboundMessage, nowMs: number): Admission {
    // Others would read the code in a group.
    if (message.place === 'group') return ignored('stranger');
    if (this.#strangers.take(message.channel, nowMs) !== 'within') return ignored('stranger');
    const code = this.#codes.issue(message, nowMs);
    if (code === undefined) return ignored('stranger');
    const text =
      'I do not know you. If this machine is yours, type there: ' +
      `sub steward pair ${code} (within 15 minutes).`;
    return { kind: 'answered', why: 'stranger', text };
  }

  /** The breaker of a channel opens when all together are too many, and closes by itself. */
  #flood({ channel, sender }: InboundMessage, nowMs: number): Admission | undefined {
    if ((this.#brokenUntilMs.get(channel) ?? 0) > nowMs) return ignored('flood');
    const own = this.#ofSender.take(`${channel}:${sender}`, nowMs);
    if (own === 'first_over') return { kind: 'answered', why: 'flood', text: WORDS.flood };
    if (own === 'over') return ignored('flood');
    if (this.#ofChannel.take(channel, nowMs) === 'within') return undefined;
    this.#brokenUntilMs.set(channel, nowMs + 5 * MINUTE_MS);
    return { kind: 'answered', why: 'flood', text: WORDS.flood };
  }
}

function ignored(why: IgnoreReason): Admission {
  return { kind: 'ignored', why };
}

function isWellFormed({ sender, conversation, messageId, atMs }: InboundMessage): boolean {
  const ids = [sender, conversation, messageId];
  const hasIds = ids.every((id) => id !== '' && id.length <= ID_LENGTH_MAX);
  return hasIds && Number.isFinite(atMs);
}
