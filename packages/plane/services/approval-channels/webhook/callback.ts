// Decisions that the user's service sends back. Messages in both directions are signed with
// HMAC-SHA256 over the time, a nonce and the body.
import { isObject } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';
import type { Desk } from '../../../stores/approvals/index.ts';
import { type CallbackAnswer, signatureOf, signedCallback } from '../shared/signed-callback.ts';

interface WebhookAnswer {
  readonly id: string;
  readonly state: 'approved' | 'rejected';
  readonly by: string;
  readonly note: string | undefined;
  /** The request that was seen. */
  readonly sha256: string;
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
const SCHEME = {
  version: VERSION,
  headers: HEADERS,
  secretLengthMin: SECRET_LENGTH_MIN,
  bytesMax: WEBHOOK_BODY_BYTES_MAX,
};
const SHA256 = /^[0-9a-f]{64}$/;
const KEYS = new Set(['v', 'id', 'state', 'by', 'note', 'request_sha256']);
const TEXT_LENGTH_MAX = { by: 200, note: 2_000 } as const;

export function signedHeaders(
  message: { readonly timestamp: string; readonly nonce: string; readonly body: string },
  secret: string,
): { readonly [name: string]: string } {
  return {
    [HEADERS.timestamp]: message.timestamp,
    [HEADERS.nonce]: message.nonce,
    [HEADERS.signature]: signatureOf(VERSION, message, secret),
  };
}

export function webhookCallback(desk: Desk, secret: string) {
  return signedCallback(SCHEME, {
    secret,
    nowMs: () => desk.ports.nowMs(),
    read: readAnswer,
    act: ({ id, ...answer }) => decisionAnswer(desk.decide(id, { ...answer, channel: 'webhook' })),
    words: {
      malformed: 'the body is not an answer',
      replayed: 'this answer was given before',
    },
  });
}

function readAnswer(body: string): WebhookAnswer | undefined {
  const value = parseJson(body);
  if (!isObject(value) || Object.keys(value).some((key) => !KEYS.has(key))) return undefined;
  const { v, id, state, by, note, request_sha256: sha256 } = value;
  if (v !== 1 || typeof id !== 'string' || id.length > 36) return undefined;
  if (state !== 'approved' && state !== 'rejected') return undefined;
  if (typeof by !== 'string' || by === '' || by.length > TEXT_LENGTH_MAX.by) return undefined;
  if (note !== undefined && (typeof note !== 'string' || note.length > TEXT_LENGTH_MAX.note)) {
    return undefined;
  }
  if (typeof sha256 !== 'string' || !SHA256.test(sha256)) return undefined;
  return { id, state, by, note, sha256 };
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
