// Webhooks of the Cloud API, as messages and presses. One of them may carry several.
import { readButton } from '../shared/buttons.ts';
import { fieldIn, listField, textField } from '../shared/call-api.ts';
import type { ButtonPress, InboundMessage } from '../shared/types.ts';

export type WhatsAppEvent =
  | { readonly kind: 'message'; readonly message: InboundMessage }
  | { readonly kind: 'press'; readonly press: ButtonPress };

const EVENTS_MAX = 100;

/** Only what was sent to our own number. */
export function readWebhook(body: unknown, phoneNumberId: string): readonly WhatsAppEvent[] {
  if (textField(body, 'object') !== 'whatsapp_business_account') return [];
  const values = listField(body, 'entry')
    .flatMap((entry) => listField(entry, 'changes'))
    .filter((change) => textField(change, 'field') === 'messages')
    .map((change) => fieldIn(change, 'value'))
    .filter((value) => textField(fieldIn(value, 'metadata'), 'phone_number_id') === phoneNumberId);
  return values
    .flatMap((value) => {
      const names = new Map(
        listField(value, 'contacts').map((contact) => [
          textField(contact, 'wa_id'),
          textField(fieldIn(contact, 'profile'), 'name'),
        ]),
      );
      return listField(value, 'messages').map((message) => readMessage(message, names));
    })
    .filter((event) => event !== undefined)
    .slice(0, EVENTS_MAX);
}

function readMessage(
  message: unknown,
  names: ReadonlyMap<string, string>,
): WhatsAppEvent | undefined {
  const sender = textField(message, 'from');
  // Groups of the Cloud API are left out: nobody can be mentioned there.
  if (sender === '' || fieldIn(message, 'group_id') !== undefined) return undefined;
  const messageId = textField(message, 'id');
  const person = { channel: 'whatsapp', conversation: sender, sender } as const;
  const senderName = names.get(sender) ?? '';
  const reply = fieldIn(fieldIn(message, 'interactive'), 'button_reply');
  const button = readButton(fieldIn(reply, 'id'));
  if (button !== undefined) {
    return { kind: 'press', press: { ...person, senderName, ...button } };
  }
  return {
    kind: 'message',
    message: {
      ...person,
      senderName,
      messageId,
      text: textField(fieldIn(message, 'text'), 'body'),
      atMs: Number(textField(message, 'timestamp') || Number.NaN) * 1_000,
      place: 'direct',
      isMention: false,
      isForwarded: ['forwarded', 'frequently_forwarded'].some(
        (mark) => fieldIn(fieldIn(message, 'context'), mark) === true,
      ),
    },
  };
}
