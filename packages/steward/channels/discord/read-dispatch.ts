// Events of Discord's gateway, as messages and presses.
import { readButton } from '../shared/buttons.ts';
import { fieldIn, listField, textField } from '../shared/call-api.ts';
import type { ButtonPress, InboundMessage } from '../shared/types.ts';

export type DiscordEvent =
  | { readonly kind: 'message'; readonly message: InboundMessage }
  | {
      readonly kind: 'press';
      readonly press: ButtonPress;
      /** Where the press is answered; it holds a token. */
      readonly callbackPath: string;
    }
  | { readonly kind: 'other' };

const OTHER: DiscordEvent = { kind: 'other' };
const ID = /^\d{1,24}$/;
const TOKEN = /^[\w.=-]{1,512}$/;
/** A message that refers to another as its forward. */
const FORWARD = 1;
/** A press of a component. */
const COMPONENT = 3;

export function readDispatch(type: string, data: unknown, botId: string): DiscordEvent {
  if (type === 'MESSAGE_CREATE') return readMessage(data, botId);
  return type === 'INTERACTION_CREATE' ? readInteraction(data) : OTHER;
}

function readMessage(data: unknown, botId: string): DiscordEvent {
  const author = fieldIn(data, 'author');
  const sender = textField(author, 'id');
  // Our own messages come back, and two bots could talk without end.
  const isPerson = ID.test(sender) && fieldIn(author, 'bot') !== true && sender !== botId;
  const conversation = textField(data, 'channel_id');
  if (!isPerson || !ID.test(conversation)) return OTHER;
  const isGroup = fieldIn(data, 'guild_id') !== undefined;
  const isMention = listField(data, 'mentions').some((user) => textField(user, 'id') === botId);
  const mention = new RegExp(`<@!?${botId}>`, 'g');
  return {
    kind: 'message',
    message: {
      channel: 'discord',
      conversation,
      sender,
      senderName: textField(author, 'username'),
      messageId: textField(data, 'id'),
      text: textField(data, 'content').replace(mention, '').trim(),
      atMs: Date.parse(textField(data, 'timestamp')),
      place: isGroup ? 'group' : 'direct',
      isMention,
      isForwarded: fieldIn(fieldIn(data, 'message_reference'), 'type') === FORWARD,
    },
  };
}

function readInteraction(data: unknown): DiscordEvent {
  const user = fieldIn(data, 'user') ?? fieldIn(fieldIn(data, 'member'), 'user');
  const sender = textField(user, 'id');
  const button = readButton(fieldIn(fieldIn(data, 'data'), 'custom_id'));
  const id = textField(data, 'id');
  const token = textField(data, 'token');
  if (fieldIn(data, 'type') !== COMPONENT || button === undefined || !ID.test(sender)) return OTHER;
  if (!ID.test(id) || !TOKEN.test(token)) return OTHER;
  const conversation = textField(data, 'channel_id');
  const senderName = textField(user, 'username');
  return {
    kind: 'press',
    press: { channel: 'discord', conversation, sender, senderName, ...button },
    callbackPath: `/interactions/${id}/${token}/callback`,
  };
}
