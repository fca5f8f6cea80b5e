// What signed HTTP callbacks of channels share: the check of a signature and its time, and replays.
import { createHmac } from 'node:crypto';
import { secretMatcher } from '../../../os/index.ts';

export interface CallbackRequest {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly rawBody: Uint8Array;
}

export interface CallbackAnswer {
  readonly status: number;
  readonly body: { readonly [key: string]: string };
}

/** How a service signs: HMAC-SHA256 over the version, the time, the nonce if there is one, and the body. */
interface SignatureScheme {
  readonly version: string;
  readonly headers: {
    readonly timestamp: string;
    readonly signature: string;
    /** Without it, the signature itself stands for the message. */
    readonly nonce?: string;
  };
  readonly secretLengthMin: number;
  readonly bytesMax: number;
}

interface SignedMessage {
  readonly timestamp: string;
  readonly nonce?: string | undefined;
  readonly body: string;
}

interface CallbackOptions<T> {
  readonly secret: string;
  readonly nowMs: () => number;
  /** Undefined for a body that is malformed; null for a message that is not for us. */
  readonly read: (body: string) => T | null | undefined;
  readonly act: (message: T) => CallbackAnswer | Promise<CallbackAnswer>;
  readonly words: { readonly malformed: string; readonly replayed: string };
}

export const FINE: CallbackAnswer = { status: 200, body: {} };
/** A timestamp further from our clock than this is refused. */
const WINDOW_MS = 5 * 60_000;
/** Seconds since 1970. */
const TIMESTAMP = /^\d{1,12}$/;
const NONCE = /^[A-Za-z0-9_-]{16,64}$/;
const SIGNATURE = /^v\d=[0-9a-f]{64}$/;

export function signatureOf(version: string, message: SignedMessage, secret: string): string {
  const { timestamp, nonce, body } = message;
  const parts = [version, timestamp, ...(nonce === undefined ? [] : [nonce]), body];
  return `${version}=${createHmac('sha256', secret).update(parts.join(':')).digest('hex')}`;
}

/** Answers signed messages. Made once for a process: it remembers nonces. */
export function signedCallback<T>(
  scheme: SignatureScheme,
  { secret, nowMs, read, act, words }: CallbackOptions<T>,
): (request: CallbackRequest) => Promise<CallbackAnswer> {
  const nonces = new UsedNonces();
  return async ({ headers, rawBody }) => {
    // A header that is missing or occurs twice counts as empty.
    const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : '');
    const timestamp = header(scheme.headers.timestamp);
    const given = header(scheme.headers.signature);
    const nonce = scheme.headers.nonce === undefined ? undefined : header(scheme.headers.nonce);
    const isSigned =
      secret.length >= scheme.secretLengthMin &&
      TIMESTAMP.test(timestamp) &&
      SIGNATURE.test(given) &&
      (nonce === undefined || NONCE.test(nonce));
    if (!isSigned) return refused(401, 'the signature is missing');
    const body = rawBody.byteLength > scheme.bytesMax ? undefined : decodeText(rawBody);
    if (body === undefined) return refused(400, words.malformed);
    const wanted = signatureOf(scheme.version, { timestamp, nonce, body }, secret);
    if (!secretMatcher(wanted)(given)) return refused(401, 'the signature is wrong');
    if (Math.abs(nowMs() - Number(timestamp) * 1_000) > WINDOW_MS) {
      return refused(401, 'the timestamp is too old or too new');
    }
    const message = read(body);
    if (message === undefined) return refused(400, words.malformed);
    if (message === null) return FINE;
    if (!nonces.take(nonce ?? given, nowMs())) return refused(409, words.replayed);
    return act(message);
  };
}

function refused(status: number, error: string): CallbackAnswer {
  return { status, body: { error } };
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    // Without `ignoreBOM` two bodies would have one text.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const NONCES_MAX = 10_000;

/**
 * Nonces of signed messages that were taken: a second message with the same nonce is a replay. The
 * first end of a request wins anyway; this keeps a recorded message from being tried at all.
 */
class UsedNonces {
  readonly #untilMs = new Map<string, number>();

  /** True for the first; false for a replay, and when there is no room to remember it. */
  take(nonce: string, nowMs: number): boolean {
    for (const [old, untilMs] of this.#untilMs) {
      // In the order of their times, as nearly as matters.
      if (untilMs > nowMs) break;
      this.#untilMs.delete(old);
    }
    if (this.#untilMs.has(nonce) || this.#untilMs.size >= NONCES_MAX) return false;
    this.#untilMs.set(nonce, nowMs + 2 * WINDOW_MS);
    return true;
  }
}
