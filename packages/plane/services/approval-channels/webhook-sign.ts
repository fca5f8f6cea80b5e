// How a message to or from a webhook is signed: HMAC-SHA256 over the time, a nonce and the body.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject } from '@subluminal/contracts';

export type Headers = { readonly [name: string]: string | readonly string[] | undefined };

interface Callback {
  readonly id: string;
  readonly state: 'approved' | 'rejected';
  readonly by: string;
  readonly note: string | undefined;
  /** The request that was seen. */
  readonly sha256: string;
  readonly nonce: string;
}

export type Verified =
  | { readonly ok: true; readonly callback: Callback }
  | { readonly ok: false; readonly why: 'unsigned' | 'forged' | 'stale' | 'malformed' };

interface Signed {
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
export const WINDOW_MS = 5 * 60_000;
export const WEBHOOK_BODY_BYTES_MAX = 65_536;
const TIMESTAMP = /^\d{1,12}$/;
const NONCE = /^[A-Za-z0-9_-]{16,64}$/;
const SIGNATURE = /^v1=([0-9a-f]{64})$/;
const SHA256 = /^[0-9a-f]{64}$/;
const KEYS = new Set(['v', 'id', 'state', 'by', 'note', 'request_sha256']);
const TEXT_LENGTH_MAX = { by: 200, note: 2_000 } as const;

function signatureOf({ timestamp, nonce, body }: Signed, secret: string): string {
  const text = `${VERSION}:${timestamp}:${nonce}:${body}`;
  return `${VERSION}=${createHmac('sha256', secret).update(text).digest('hex')}`;
}

export function signedHeaders(signed: Signed, secret: string): { readonly [name: string]: string } {
  return {
    [HEADERS.timestamp]: signed.timestamp,
    [HEADERS.nonce]: signed.nonce,
    [HEADERS.signature]: signatureOf(signed, secret),
  };
}

/** Reads an answer. Whether its nonce was seen before is for whoever keeps them. */
export function verifyCallback(
  headers: Headers,
  rawBody: Uint8Array,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
): Verified {
  const timestamp = one(headers, HEADERS.timestamp);
  const nonce = one(headers, HEADERS.nonce);
  const given = one(headers, HEADERS.signature);
  if (
    secret.length < SECRET_LENGTH_MIN ||
    !TIMESTAMP.test(timestamp) ||
    !NONCE.test(nonce) ||
    !SIGNATURE.test(given)
  ) {
    return { ok: false, why: 'unsigned' };
  }
  if (rawBody.byteLength > WEBHOOK_BODY_BYTES_MAX) return { ok: false, why: 'malformed' };
  const body = textOf(rawBody);
  if (body === undefined) return { ok: false, why: 'malformed' };
  const wanted = signatureOf({ timestamp, nonce, body }, secret);
  if (!isSame(wanted, given)) return { ok: false, why: 'forged' };
  if (Math.abs(nowMs - Number(timestamp) * 1_000) > WINDOW_MS) return { ok: false, why: 'stale' };
  const callback = readCallback(body, nonce);
  return callback === undefined ? { ok: false, why: 'malformed' } : { ok: true, callback };
}

/** Twice the same header says two things: neither counts. */
export function one(headers: Headers, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

export function isSame(wanted: string, given: string): boolean {
  const [left, right] = [Buffer.from(wanted), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

export function textOf(bytes: Uint8Array): string | undefined {
  try {
    // Without `ignoreBOM` two bodies would have one text.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function readCallback(body: string, nonce: string): Callback | undefined {
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
