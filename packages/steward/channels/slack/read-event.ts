// What Slack sends: events, presses of buttons, and the question whether we are there.
import { parseJson } from '@subluminal/plane/os';
import { readButton } from '../shared/buttons.ts';
import { fieldIn, listField, textField } from '../shared/call-api.ts';
import type { ButtonPress, InboundMessage } from '../shared/types.ts';

export type SlackEvent =
  | { readonly kind: 'challenge'; readonly challenge: string }
  | { readonly kind: 'message'; readonly message: InboundMessage }
  | { readonly kind: 'press'; readonly press: ButtonPress };

const USER = /^[A-Z0-9]{1,32}$/;
const MENTION = /<@[A-Z0-9]{1,32}(?:\|[^>]*)?>/;
const CHALLENGE_LENGTH_MAX = 256;

/** Undefined for a body that is malformed; null for what is not for us. */
export function readSlackBody(body: string): SlackEvent | null | undefined {
  const isForm = body.startsWith('payload=');
  const text = isForm ? (new URLSearchParams(body).get('payload') ?? '') : body;
  const value = parseJson(text);
  if (value === undefined) return undefined;
  if (isForm) return readPress(value);
  const type = textField(value, 'type');
  if (type === 'url_verification') {
    const challenge = textField(value, 'challenge').slice(0, CHALLENGE_LENGTH_MAX);
    return { kind: 'challenge', challenge };
  }
  return type === 'event_callback' ? readEvent(fieldIn(value, 'event')) : null;
}

/** In rooms only mentions count; those come as an event of their own, beside the message. */
function readEvent(event: unknown): SlackEvent | null {
  const type = textField(event, 'type');
  const isDirect = type === 'message' && textField(event, 'channel_type') === 'im';
  const isMention = type === 'app_mention';
  // Edits, joins, our own messages and those of other apps.
  const isOther = [fieldIn(event, 'subtype'), fieldIn(event, 'bot_id')].some(
    (field) => field !== undefined,
  );
  const sender = textField(event, 'user');
  if ((!isDirect && !isMention) || isOther || !USER.test(sender)) return null;
  const conversation = textField(event, 'channel');
  const ts = textField(event, 'ts');
  return {
    kind: 'message',
    message: {
      channel: 'slack',
      conversation,
      sender,
      senderName: sender,
      messageId: `${conversation}:${ts}`,
      text: slackPlain(textField(event, 'text').replace(isMention ? MENTION : /^$/, '')).trim(),
      atMs: Number(ts) * 1_000,
      place: isDirect ? 'direct' : 'group',
      isMention,
    },
  };
}

function readPress(payload: unknown): SlackEvent | null {
  const [action, ...more] = listField(payload, 'actions');
  const button = readButton(fieldIn(action, 'value'));
  if (textField(payload, 'type') !== 'block_actions' || button === undefined || more.length > 0) {
    return null;
  }
  const user = fieldIn(payload, 'user');
  const sender = textField(user, 'id');
  if (!USER.test(sender)) return null;
  const conversation = textField(fieldIn(payload, 'channel'), 'id');
  const senderName = textField(user, 'username');
  return {
    kind: 'press',
    press: { channel: 'slack', conversation, sender, senderName, ...button },
  };
}

/** The three characters that begin something in Slack's texts. */
export function slackEscaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function slackPlain(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
