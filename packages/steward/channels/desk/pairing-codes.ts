// Codes that unknown senders get. Whoever sits at the machine types the code that they see on their own
// phone: so the sender is theirs, and nobody can let themselves in from outside.
import { randomInt } from 'node:crypto';
import { secretMatcher } from '@subluminal/plane/os';
import type { ChannelName, InboundMessage } from '../shared/types.ts';

interface PendingPair {
  readonly channel: ChannelName;
  readonly sender: string;
  readonly senderName: string;
  readonly conversation: string;
  readonly isCode: (code: string) => boolean;
  readonly untilMs: number;
}

export type Redeemed =
  | { readonly kind: 'found'; readonly pending: Omit<PendingPair, 'isCode' | 'untilMs'> }
  | { readonly kind: 'unknown' }
  /** Too many wrong codes: all open ones are void. */
  | { readonly kind: 'void' };

/** Without letters and digits that look alike. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const CODE_LENGTH = 8;
const LIFETIME_MS = 15 * 60_000;
const PENDING_MAX = 3;
const WRONG_MAX = 5;

export function randomCode(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

export class PairingCodes {
  #pending: readonly PendingPair[] = [];
  #wrong = 0;

  /** A code, once for each sender while it is good; undefined when they have one, and when too many wait. */
  issue(message: InboundMessage, nowMs: number): string | undefined {
    const { channel, sender, conversation } = message;
    this.#pending = this.#pending.filter(({ untilMs }) => untilMs > nowMs);
    const waiting = this.#pending.filter((one) => one.channel === channel);
    if (waiting.some((one) => one.sender === sender)) return undefined;
    if (waiting.length >= PENDING_MAX) return undefined;
    const code = randomCode(CODE_LENGTH);
    const senderName = message.senderName.slice(0, 100);
    const known = { channel, sender, senderName, conversation };
    const pending = { ...known, isCode: secretMatcher(code), untilMs: nowMs + LIFETIME_MS };
    this.#pending = [...this.#pending, pending];
    return `${code.slice(0, 4)}-${code.slice(4)}`;
  }

  redeem(text: string, nowMs: number): Redeemed {
    const code = text
      .toUpperCase()
      .replaceAll(/[\s-]/g, '')
      .slice(0, 2 * CODE_LENGTH);
    const found = this.#pending.find((one) => one.untilMs > nowMs && one.isCode(code));
    if (found !== undefined) {
      this.#pending = this.#pending.filter((one) => one !== found);
      this.#wrong = 0;
      const { isCode: _code, untilMs: _untilMs, ...pending } = found;
      return { kind: 'found', pending };
    }
    this.#wrong += 1;
    if (this.#wrong < WRONG_MAX) return { kind: 'unknown' };
    this.#wrong = 0;
    this.#pending = [];
    return { kind: 'void' };
  }
}
