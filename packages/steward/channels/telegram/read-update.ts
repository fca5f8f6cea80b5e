// Updates of the Bot API, as messages and presses. They are hostile, and read field by field.
import { readButton } from '../shared/buttons.ts';
import { fieldIn, listField, textField } from '../shared/call-api.ts';
import type { ButtonPress, InboundMessage } from '../shared/types.ts';

/** Who the bot is. */
export interface BotIdentity {
  readonly id: number;
  readonly username: string;
}

export type TelegramUpdate =
  | { readonly kind: 'message'; readonly message: InboundMessage }
  | { readonly kind: 'press'; readonly press: ButtonPress; readonly queryId: string }
  | { readonly kind: 'other' };

/** What tells that somebody else wrote it: a forward, also of older servers, or a bot that was used in the line. */
const FOREIGN = ['forward_origin', 'forward_date', 'via_bot'];
const OTHER: TelegramUpdate = { kind: 'other' };

export function readUpdate(update: unknown, bot: BotIdentity): TelegramUpdate {
  const message = fieldIn(update, 'message');
  if (message !== undefined) return readMessage(message, bot);
  const query = fieldIn(update, 'callback_query');
  const button = readButton(fieldIn(query, 'data'));
  const from = readUser(fieldIn(query, 'from'));
  const chat = fieldIn(fieldIn(query, 'message'), 'chat');
  const conversation = idText(fieldIn(chat, 'id'));
  const queryId = textField(query, 'id');
  if (button === undefined || from === undefined || queryId === '') return OTHER;
  return {
    kind: 'press',
    queryId,
    press: { channel: 'telegram', conversation, ...from, ...button },
  };
}

function readMessage(message: unknown, bot: BotIdentity): TelegramUpdate {
  const chat = fieldIn(message, 'chat');
  const type = textField(chat, 'type');
  const from = readUser(fieldIn(message, 'from'));
  const isGroup = type === 'group' || type === 'supergroup';
  if (from === undefined || (type !== 'private' && !isGroup)) return OTHER;
  const conversation = idText(fieldIn(chat, 'id'));
  const { text, isMention } = withoutMention(message, bot);
  const inbound: InboundMessage = {
    channel: 'telegram',
    conversation,
    ...from,
    messageId: `${conversation}:${idText(fieldIn(message, 'message_id'))}`,
    text,
    atMs: Number(fieldIn(message, 'date')) * 1_000,
    place: isGroup ? 'group' : 'direct',
    isMention: isMention || fieldIn(fieldIn(replied(message), 'from'), 'id') === bot.id,
    isForwarded: FOREIGN.some((field) => fieldIn(message, field) !== undefined),
  };
  return { kind: 'message', message: inbound };
}

function replied(message: unknown): unknown {
  return fieldIn(message, 'reply_to_message');
}

/** A bot is no person: two of them could talk without end. */
function readUser(user: unknown) {
  const sender = idText(fieldIn(user, 'id'));
  if (sender === '' || fieldIn(user, 'is_bot') === true) return undefined;
  const names = [textField(user, 'first_name'), textField(user, 'last_name')];
  return { sender, senderName: names.filter((name) => name !== '').join(' ') };
}

function withoutMention(message: unknown, { username }: BotIdentity) {
  const text = textField(message, 'text');
  for (const entity of listField(message, 'entities')) {
    const from = Number(fieldIn(entity, 'offset'));
    const to = from + Number(fieldIn(entity, 'length'));
    const named = text.slice(from, to).toLowerCase();
    if (textField(entity, 'type') !== 'mention' || named !== `@${username.toLowerCase()}`) continue;
    return { text: `${text.slice(0, from)}${text.slice(to)}`.trim(), isMention: true };
  }
  return { text, isMention: false };
}

function idText(id: unknown): string {
  return typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : '';
}
