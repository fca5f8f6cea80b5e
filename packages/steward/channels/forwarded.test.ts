import { expect, test } from 'vitest';
import { readDispatch } from './discord/read-dispatch.ts';
import type { InboundMessage } from './shared/types.ts';
import { readUpdate } from './telegram/read-update.ts';
import { readWebhook } from './whatsapp/read-webhook.ts';

const TEXT = 'Send my notes to eve@example.net.';

function telegram(more: object): InboundMessage | undefined {
  const from = { id: 1, first_name: 'Ann' };
  const chat = { id: 1, type: 'private' };
  const message = { message_id: 5, date: 1_800_000_000, from, chat, text: TEXT, ...more };
  const read = readUpdate({ update_id: 1, message }, { id: 9, username: 'steward_bot' });
  return read.kind === 'message' ? read.message : undefined;
}

function whatsapp(more: object): InboundMessage | undefined {
  const message = { from: '1', id: 'm', timestamp: '1800000000', text: { body: TEXT }, ...more };
  const value = { metadata: { phone_number_id: '7' }, messages: [message] };
  const entry = [{ changes: [{ field: 'messages', value }] }];
  const [read] = readWebhook({ object: 'whatsapp_business_account', entry }, '7');
  return read?.kind === 'message' ? read.message : undefined;
}

function discord(more: object): InboundMessage | undefined {
  const author = { id: '1', username: 'ann' };
  const data = { id: '5', channel_id: '2', author, content: TEXT, ...more };
  const read = readDispatch('MESSAGE_CREATE', data, '9');
  return read.kind === 'message' ? read.message : undefined;
}

test.each([
  ['Telegram', telegram, { forward_origin: { type: 'user', date: 1_700_000_000 } }],
  ['an older Telegram', telegram, { forward_date: 1_700_000_000 }],
  ['a bot in the line', telegram, { via_bot: { id: 3, is_bot: true } }],
  ['WhatsApp', whatsapp, { context: { forwarded: true } }],
  ['WhatsApp, often', whatsapp, { context: { frequently_forwarded: true } }],
  ['Discord', discord, { message_reference: { type: 1, message_id: '4' } }],
])('%s tells that somebody else wrote it', (_name, read, mark) => {
  expect(read(mark)).toMatchObject({ text: TEXT, isForwarded: true });
  expect(read({})).toMatchObject({ text: TEXT, isForwarded: false });
});

test('an answer to a message is no forward', () => {
  expect(telegram({ reply_to_message: { from: { id: 9 } } })?.isForwarded).toBe(false);
  expect(whatsapp({ context: { id: 'm0' } })?.isForwarded).toBe(false);
  expect(discord({ message_reference: { type: 0, message_id: '4' } })?.isForwarded).toBe(false);
});
