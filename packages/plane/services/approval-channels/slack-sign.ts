// What Slack sends when somebody presses a button, and the proof that it was Slack.
import { createHmac } from 'node:crypto';
import { isObject } from '@subluminal/contracts';
import { type Headers, isSame, one, textOf, WINDOW_MS } from './webhook-sign.ts';

export interface Press {
  readonly userId: string;
  readonly userName: string;
  readonly channelId: string;
  readonly action: 'approve' | 'reject';
  readonly id: string;
  readonly sha256: string;
  /** Differs for each press. */
  readonly nonce: string;
}

type VerifiedPress =
  | { readonly ok: true; readonly press: Press }
  /** Slack's word, but none of our buttons. */
  | { readonly ok: true; readonly press: null }
  | { readonly ok: false; readonly why: 'unsigned' | 'forged' | 'stale' | 'malformed' };

export const ACTIONS = { approve: 'subluminal_approve', reject: 'subluminal_reject' } as const;
const SIGNATURE = /^v0=[0-9a-f]{64}$/;
const TIMESTAMP = /^\d{1,12}$/;
const VALUE = /^([0-9a-f-]{36}):([0-9a-f]{64})$/;
const USER = /^[A-Z0-9]{1,32}$/;
export const SLACK_BODY_BYTES_MAX = 1_048_576;

/** Slack's own scheme, version 0. */
export function verifySlack(
  headers: Headers,
  rawBody: Uint8Array,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
): VerifiedPress {
  const timestamp = one(headers, 'x-slack-request-timestamp');
  const given = one(headers, 'x-slack-signature');
  if (secret === '' || !TIMESTAMP.test(timestamp) || !SIGNATURE.test(given)) {
    return { ok: false, why: 'unsigned' };
  }
  const body = rawBody.byteLength > SLACK_BODY_BYTES_MAX ? undefined : textOf(rawBody);
  if (body === undefined) return { ok: false, why: 'malformed' };
  const hmac = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`);
  if (!isSame(`v0=${hmac.digest('hex')}`, given)) return { ok: false, why: 'forged' };
  if (Math.abs(nowMs - Number(timestamp) * 1_000) > WINDOW_MS) return { ok: false, why: 'stale' };
  const press = readPress(body, given);
  return press === undefined ? { ok: false, why: 'malformed' } : { ok: true, press };
}

function readPress(body: string, nonce: string): Press | null | undefined {
  const payload = jsonObject(new URLSearchParams(body).get('payload') ?? '');
  if (payload === undefined) return undefined;
  if (payload['type'] !== 'block_actions') return null;
  const { user, channel, actions } = payload;
  const pressed: unknown = Array.isArray(actions) && actions.length === 1 ? actions[0] : undefined;
  if (!isObject(user) || !isObject(channel) || !isObject(pressed)) return undefined;
  const action = actionOf(pressed['action_id']);
  if (action === undefined) return null;
  const [, id, sha256] = VALUE.exec(String(pressed['value'])) ?? [];
  const userId = user['id'];
  const channelId = channel['id'];
  if (id === undefined || sha256 === undefined) return undefined;
  if (typeof userId !== 'string' || !USER.test(userId) || typeof channelId !== 'string') {
    return undefined;
  }
  const userName = typeof user['username'] === 'string' ? user['username'].slice(0, 80) : '';
  return { userId, userName, channelId, action, id, sha256, nonce };
}

function actionOf(actionId: unknown): Press['action'] | undefined {
  if (actionId === ACTIONS.approve) return 'approve';
  return actionId === ACTIONS.reject ? 'reject' : undefined;
}

function jsonObject(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
