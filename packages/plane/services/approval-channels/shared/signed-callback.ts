// What signed HTTP callbacks of channels share: the checks of headers and bodies, and replays.
import { timingSafeEqual } from 'node:crypto';

export interface CallbackRequest {
  readonly headers: CallbackHeaders;
  readonly rawBody: Uint8Array;
}

export type CallbackHeaders = { readonly [name: string]: string | readonly string[] | undefined };

export interface CallbackAnswer {
  readonly status: number;
  readonly body: { readonly [key: string]: string };
}

export type CallbackRefusal = 'unsigned' | 'forged' | 'stale' | 'malformed';

/** A timestamp further from our clock than this is refused. */
export const WINDOW_MS = 5 * 60_000;
/** Seconds since 1970. */
export const TIMESTAMP = /^\d{1,12}$/;
const REFUSALS = {
  unsigned: 'the signature is missing',
  forged: 'the signature is wrong',
  stale: 'the timestamp is too old or too new',
};

export function refuseCallback(why: CallbackRefusal, malformed: string): CallbackAnswer {
  if (why === 'malformed') return { status: 400, body: { error: malformed } };
  return { status: 401, body: { error: REFUSALS[why] } };
}

/** The value of a header; empty when it is missing or occurs twice. */
export function singleValue(headers: CallbackHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

export function isEqualSecret(wanted: string, given: string): boolean {
  const [left, right] = [Buffer.from(wanted), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    // Without `ignoreBOM` two bodies would have one text.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Nonces of signed messages that were taken: a second message with the same nonce is a replay. The
 * first end of a request wins anyway; this keeps a recorded message from being tried at all.
 */
export class UsedNonces {
  readonly #untilMs = new Map<string, number>();
  readonly #countMax: number;

  constructor(countMax = 10_000) {
    this.#countMax = countMax;
  }

  /** True for the first; false for a replay, and when there is no room to remember it. */
  take(nonce: string, nowMs: number, keptMs: number): boolean {
    for (const [old, untilMs] of this.#untilMs) {
      // In the order of their times, as nearly as matters.
      if (untilMs > nowMs) break;
      this.#untilMs.delete(old);
    }
    if (this.#untilMs.has(nonce) || this.#untilMs.size >= this.#countMax) return false;
    this.#untilMs.set(nonce, nowMs + keptMs);
    return true;
  }
}
