// What Slack sends when somebody presses a button, and the check that Slack sent it.
import { isObject } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';
import type { Decided, Desk } from '../../../stores/approvals/index.ts';
import { Claims } from '../shared/announce-requests.ts';
import { FINE, signedCallback } from '../shared/signed-callback.ts';
import { lazyClient, NOT_ON_LIST, readPosted, type SlackConfig, slackErrorText } from './client.ts';
import { ACTIONS } from './message.ts';

interface ButtonPress {
  readonly userId: string;
  readonly userName: string;
  readonly channelId: string;
  readonly action: 'approve' | 'reject';
  readonly id: string;
  readonly sha256: string;
}

const VALUE = /^([0-9a-f-]{36}):([0-9a-f]{64})$/;
const USER = /^[A-Z0-9]{1,32}$/;
export const SLACK_BODY_BYTES_MAX = 1_048_576;
/** Slack's own scheme, version 0. Its signature differs for each press. */
const SCHEME = {
  version: 'v0',
  headers: { timestamp: 'x-slack-request-timestamp', signature: 'x-slack-signature' },
  secretLengthMin: 1,
  bytesMax: SLACK_BODY_BYTES_MAX,
};

/** Answers button presses. */
export function slackCallback(desk: Desk, config: SlackConfig) {
  const client = lazyClient(config);
  const send = async (user: string, text: string) => {
    try {
      await (await client()).chat.postEphemeral({ channel: config.channel, user, text });
    } catch (cause) {
      desk.ports.warn?.(`Slack: ${slackErrorText(cause)}.`);
    }
  };
  return signedCallback(SCHEME, {
    secret: config.signingSecret,
    nowMs: () => desk.ports.nowMs(),
    read: readPress,
    act: async (press) => {
      const { channelId, userId } = press;
      const isOnList = channelId === config.channel && config.users.includes(userId);
      const reply = isOnList ? pressReply(decidePress(desk, press)) : NOT_ON_LIST;
      if (reply !== undefined) await send(userId, reply);
      return FINE;
    },
    words: {
      malformed: 'the payload is not readable',
      replayed: 'this press was taken before',
    },
  });
}

/** Null for a message of Slack that is none of our buttons. */
function readPress(body: string): ButtonPress | null | undefined {
  const payload = parseJson(new URLSearchParams(body).get('payload') ?? '');
  if (!isObject(payload)) return undefined;
  if (payload['type'] !== 'block_actions') return null;
  const { user, channel, actions } = payload;
  const pressed: unknown = Array.isArray(actions) && actions.length === 1 ? actions[0] : undefined;
  if (!isObject(user) || !isObject(channel) || !isObject(pressed)) return undefined;
  const { action_id: actionId } = pressed;
  if (actionId !== ACTIONS.approve && actionId !== ACTIONS.reject) return null;
  const action = actionId === ACTIONS.approve ? 'approve' : 'reject';
  const [, id, sha256] = VALUE.exec(String(pressed['value'])) ?? [];
  const { id: userId, username } = user;
  const { id: channelId } = channel;
  if (id === undefined || sha256 === undefined || typeof channelId !== 'string') return undefined;
  if (typeof userId !== 'string' || !USER.test(userId)) return undefined;
  const userName = typeof username === 'string' ? username.slice(0, 80) : '';
  return { userId, userName, channelId, action, id, sha256 };
}

function decidePress(desk: Desk, { id, action, userId, userName, sha256 }: ButtonPress): Decided {
  const posted = readPosted(new Claims(desk, 'slack').done(id)?.value);
  // A button that was not shown: the call did not fit into the message.
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
