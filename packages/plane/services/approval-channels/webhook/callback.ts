// Decisions that the user's service sends back. Messages in both directions are signed with
// HMAC-SHA256 over the time, a nonce and the body.
import { createHmac } from 'node:crypto';
import { isObject } from '@subluminal/contracts';
import type { Desk } from '../../../stores/approvals/index.ts';
import {
  type CallbackAnswer,
  type CallbackHeaders,
  type CallbackRefusal,
  type CallbackRequest,
  decodeText,
  isEqualSecret,
  refuseCallback,
  singleValue,
  TIMESTAMP,
  UsedNonces,
  WINDOW_MS,
} from '../shared/signed-callback.ts';

interface WebhookAnswer {
  readonly id: string;
  readonly state: 'approved' | 'rejected';
  readonly by: string;
  readonly note: string | undefined;
  /** The request that was seen. */
  readonly sha256: string;
  readonly nonce: string;
}

type VerifiedWebhookAnswer =
  | { readonly ok: true; readonly callback: WebhookAnswer }
  | { readonly ok: false; readonly why: CallbackRefusal };

interface SignedMessage {
  readonly timestamp: string;
  readonly nonce: string;
  readonly body: string;
}

const HEADERS = {
  timestamp: 'x-subluminal-timestamp',
  nonce: 'x-subluminal-nonce',
  signature: 'x-subluminal-signature',
} as const;
const VERSION = 'v1';
/** A shorter one could be guessed from one message. */
export const SECRET_LENGTH_MIN = 16;
export const WEBHOOK_BODY_BYTES_MAX = 65_536;
const NONCE = /^[A-Za-z0-9_-]{16,64}$/;
const SIGNATURE = /^v1=([0-9a-f]{64})$/;
const SHA256 = /^[0-9a-f]{64}$/;
const KEYS = new Set(['v', 'id', 'state', 'by', 'note', 'request_sha256']);
const TEXT_LENGTH_MAX = { by: 200, note: 2_000 } as const;

function signMessage({ timestamp, nonce, body }: SignedMessage, secret: string): string {
  const text = `${VERSION}:${timestamp}:${nonce}:${body}`;
  return `${VERSION}=${createHmac('sha256', secret).update(text).digest('hex')}`;
}

export function signedHeaders(
  signed: SignedMessage,
  secret: string,
): { readonly [name: string]: string } {
  return {
    [HEADERS.timestamp]: signed.timestamp,
    [HEADERS.nonce]: signed.nonce,
    [HEADERS.signature]: signMessage(signed, secret),
  };
}

/** Reads an answer. Whether its nonce was seen before is for whoever keeps them. */
export function verifyCallback(
  headers: CallbackHeaders,
  rawBody: Uint8Array,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
): VerifiedWebhookAnswer {
  const timestamp = singleValue(headers, HEADERS.timestamp);
  const nonce = singleValue(headers, HEADERS.nonce);
  const given = singleValue(headers, HEADERS.signature);
  if (
    secret.length < SECRET_LENGTH_MIN ||
    !TIMESTAMP.test(timestamp) ||
    !NONCE.test(nonce) ||
    !SIGNATURE.test(given)
  ) {
    return { ok: false, why: 'unsigned' };
  }
  if (rawBody.byteLength > WEBHOOK_BODY_BYTES_MAX) return { ok: false, why: 'malformed' };
  const body = decodeText(rawBody);
  if (body === undefined) return { ok: false, why: 'malformed' };
  const wanted = signMessage({ timestamp, nonce, body }, secret);
  if (!isEqualSecret(wanted, given)) return { ok: false, why: 'forged' };
  if (Math.abs(nowMs - Number(timestamp) * 1_000) > WINDOW_MS) return { ok: false, why: 'stale' };
  const callback = readCallback(body, nonce);
  return callback === undefined ? { ok: false, why: 'malformed' } : { ok: true, callback };
}

function readCallback(body: string, nonce: string): WebhookAnswer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isObject(value) || Object.keys(value).some((key) => !KEYS.has(key))) return undefined;
  const { v, id, state, by, note, request_sha256 } = value;
  if (v !== 1 || typeof id !== 'string' || id.length > 36) return undefined;
  if (state !== 'approved' && state !== 'rejected') return undefined;
  if (typeof by !== 'string' || by === '' || by.length > TEXT_LENGTH_MAX.by) return undefined;
  if (note !== undefined && (typeof note !== 'string' || note.length > TEXT_LENGTH_MAX.note)) {
    return undefined;
  }
  if (typeof request_sha256 !== 'string' || !SHA256.test(request_sha256)) return undefined;
  return { id, state, by, note, sha256: request_sha256, nonce };
}

/** Answers the service's decisions. Made once for a process: it remembers nonces. */
export function webhookCallback(
  desk: Desk,
  secret: string,
): (request: CallbackRequest) => CallbackAnswer {
  const nonces = new UsedNonces();
  return ({ headers, rawBody }) => {
    const nowMs = desk.ports.nowMs();
    const verified = verifyCallback(headers, rawBody, { secret, nowMs });
    if (!verified.ok) return refuseCallback(verified.why, 'the body is not an answer');
    const { id, nonce, ...answer } = verified.callback;
    if (!nonces.take(nonce, nowMs, 2 * WINDOW_MS)) {
      return { status: 409, body: { error: 'this answer was given before' } };
    }
    return decisionAnswer(desk.decide(id, { ...answer, channel: 'webhook' }));
  };
}

function decisionAnswer(decided: ReturnType<Desk['decide']>): CallbackAnswer {
  switch (decided.kind) {
    case 'ended':
      return { status: 200, body: { state: decided.outcome.state } };
    case 'already':
      return { status: 409, body: { error: 'it has ended', state: decided.outcome.state } };
    case 'changed':
      return { status: 409, body: { error: 'the request is another one' } };
    case 'missing':
      return { status: 404, body: { error: 'there is no such request' } };
    default:
      return { status: 503, body: { error: 'the answer could not be kept' } };
  }
}
