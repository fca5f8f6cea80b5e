// Envelopes of signal-cli, as messages.
import { fieldIn, listField, textField } from '../shared/call-api.ts';
import type { InboundMessage } from '../shared/types.ts';

/** Groups have ids of another form than people. */
const GROUP = 'group:';

/** Undefined for receipts, typing, our own other devices, and whatever else is no message. */
export function readEnvelope(params: unknown, account: string): InboundMessage | undefined {
  const envelope = fieldIn(params, 'envelope');
  const data = fieldIn(envelope, 'dataMessage');
  if (data === undefined || data === null) return undefined;
  // A number can change hands; the id of an account does not.
  const sender = textField(envelope, 'sourceUuid') || textField(envelope, 'source');
  if (sender === '' || textField(envelope, 'sourceNumber') === account) return undefined;
  const groupId = textField(fieldIn(data, 'groupInfo'), 'groupId');
  const atMs = Number(fieldIn(data, 'timestamp'));
  const { text, isMention } = withoutMention(data, account);
  return {
    channel: 'signal',
    conversation: groupId === '' ? sender : `${GROUP}${groupId}`,
    sender,
    senderName: textField(envelope, 'sourceName'),
    messageId: `${sender}:${atMs}`,
    text,
    atMs,
    place: groupId === '' ? 'direct' : 'group',
    isMention,
  };
}

/** A mention is one character that stands for a name. */
function withoutMention(data: unknown, account: string) {
  const text = textField(data, 'message');
  for (const mention of listField(data, 'mentions')) {
    if (textField(mention, 'number') !== account) continue;
    const from = Number(fieldIn(mention, 'start'));
    const to = from + Number(fieldIn(mention, 'length'));
    return { text: `${text.slice(0, from)}${text.slice(to)}`.trim(), isMention: true };
  }
  return { text, isMention: false };
}

export function recipientOf(conversation: string) {
  if (!conversation.startsWith(GROUP)) return { recipient: [conversation] };
  return { groupId: conversation.slice(GROUP.length) };
}
