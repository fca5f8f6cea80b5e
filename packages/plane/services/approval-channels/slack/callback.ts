// What Slack sends when somebody presses a button, and the check that Slack sent it.
import { createHmac } from 'node:crypto';
import { isObject } from '@subluminal/contracts';
import type { Decided, Desk } from '../../../stores/approvals/index.ts';
import { createClaims } from '../shared/announce-requests.ts';
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
import { lazyClient, NOT_ON_LIST, readPosted, type SlackConfig, slackErrorText } from './client.ts';
import { ACTIONS } from './message.ts';

interface ButtonPress {
  readonly userId: string;
  readonly userName: string;
  readonly channelId: string;
  readonly action: 'approve' | 'reject';
  readonly id: string;
  readonly sha256: string;
  /** Differs for each press. */
  readonly nonce: string;
}

type VerifiedButtonPress =
  | { readonly ok: true; readonly press: ButtonPress }
  /** Slack's word, but none of our buttons. */
  | { readonly ok: true; readonly press: null }
  | { readonly ok: false; readonly why: CallbackRefusal };

const SIGNATURE = /^v0=[0-9a-f]{64}$/;
const VALUE = /^([0-9a-f-]{36}):([0-9a-f]{64})$/;
const USER = /^[A-Z0-9]{1,32}$/;
export const SLACK_BODY_BYTES_MAX = 1_048_576;

/** Slack's own scheme, version 0. */
function verifySlack(
  headers: CallbackHeaders,
  rawBody: Uint8Array,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
): VerifiedButtonPress {
  const timestamp = singleValue(headers, 'x-slack-request-timestamp');
  const given = singleValue(headers, 'x-slack-signature');
  if (secret === '' || !TIMESTAMP.test(timestamp) || !SIGNATURE.test(given)) {
    return { ok: false, why: 'unsigned' };
  }
  const body = rawBody.byteLength > SLACK_BODY_BYTES_MAX ? undefined : decodeText(rawBody);
  if (body === undefined) return { ok: false, why: 'malformed' };
  const hmac = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`);
  if (!isEqualSecret(`v0=${hmac.digest('hex')}`, given)) return { ok: false, why: 'forged' };
  if (Math.abs(nowMs - Number(timestamp) * 1_000) > WINDOW_MS) return { ok: false, why: 'stale' };
  const press = readPress(body, given);
  return press === undefined ? { ok: false, why: 'malformed' } : { ok: true, press };
}

function readPress(body: string, nonce: string): ButtonPress | null | undefined {
  const payload = parseObject(new URLSearchParams(body).get('payload') ?? '');
  if (payload === undefined) return undefined;
  if (payload['type'] !== 'block_actions') return null;
  const { user, channel, actions } = payload;
  const pressed: unknown = Array.isArray(actions) && actions.length === 1 ? actions[0] : undefined;
  if (!isObject(user) || !isObject(channel) || !isObject(pressed)) return undefined;
  const action = readAction(pressed['action_id']);
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

function readAction(actionId: unknown): ButtonPress['action'] | undefined {
  if (actionId === ACTIONS.approve) return 'approve';
  return actionId === ACTIONS.reject ? 'reject' : undefined;
}

function parseObject(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const FINE: CallbackAnswer = { status: 200, body: {} };

/** Answers button presses. Made once for a process: it remembers nonces. */
export function slackCallback(
  desk: Desk,
  config: SlackConfig,
): (interaction: CallbackRequest) => Promise<CallbackAnswer> {
  const nonces = new UsedNonces();
  const client = lazyClient(config);
  const send = async ({ userId }: ButtonPress, text: string) => {
    const { channel } = config;
    try {
      await (await client()).chat.postEphemeral({ channel, user: userId, text });
    } catch (cause) {
      desk.ports.warn?.(`Slack: ${slackErrorText(cause)}.`);
    }
  };
  return async ({ headers, rawBody }) => {
    const nowMs = desk.ports.nowMs();
    const verified = verifySlack(headers, rawBody, { secret: config.signingSecret, nowMs });
    if (!verified.ok) return refuseCallback(verified.why, 'the payload is not readable');
    const { press } = verified;
    if (press === null) return FINE;
    if (!nonces.take(press.nonce, nowMs, 2 * WINDOW_MS)) {
      return { status: 409, body: { error: 'this press was taken before' } };
    }
    if (press.channelId !== config.channel || !config.users.includes(press.userId)) {
      await send(press, NOT_ON_LIST);
      return FINE;
    }
    const reply = pressReply(decidePress(desk, press));
    if (reply !== undefined) await send(press, reply);
    return FINE;
  };
}

function decidePress(desk: Desk, { id, action, userId, userName, sha256 }: ButtonPress): Decided {
  const posted = readPosted(createClaims(desk.queue, desk.ports, 'slack').done(id)?.value);
  // A button that we did not show: the call did not fit into the message.
  if (action === 'approve' && posted?.isWhole !== true) return { kind: 'changed' };
  const by = userName === '' ? `slack:${userId}` : `slack:${userId} (${userName})`;
  const state = action === 'approve' ? 'approved' : 'rejected';
  return desk.decide(id, { state, by, channel: 'slack', sha256 });
}

/** The reply to the person who pressed the button. */
function pressReply(decided: Decided): string | undefined {
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
