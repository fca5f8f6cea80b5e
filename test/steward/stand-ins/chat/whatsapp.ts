// The WhatsApp Cloud API: sends by HTTP, signed webhooks.
import { createHmac } from 'node:crypto';
import { ChatService, type ChatStandIn, parsed, type Saying, serveJson } from './chat-service.ts';

const TOKEN = 'whatsapp-token-of-the-test';
const SECRET = 'whatsapp-app-secret-of-the-test';
export const VERIFY = 'whatsapp-verify-token-of-the-test';
const NUMBER = '106540352242922';
/** Words between a pair of these are bold, italic, struck through or code. */
const FORMATTED = /([*_~`])\S(?:[^\n]*?\S)?\1/g;

interface Outgoing {
  readonly to: string;
  readonly text?: { readonly body: string; readonly preview_url: boolean };
  readonly interactive?: {
    readonly body: { readonly text: string };
    readonly action: {
      readonly buttons: readonly { reply: { readonly id: string; readonly title: string } }[];
    };
  };
}

function outsideBlocks(text: string): string {
  return text.replaceAll(/```[^]*?```/g, '');
}

export async function startWhatsApp(): Promise<ChatStandIn> {
  const service = new ChatService();
  let url = '';
  let count = 0;
  const nextId = () => `wamid.${(count += 1)}`;

  const http = await serveJson(({ method, path, headers, body }) => {
    const no = (status: number, code: number) => ({ status, json: { error: { code } } });
    if (headers.authorization !== `Bearer ${TOKEN}`) return no(401, 190);
    if (method === 'GET' && path === `/${NUMBER}`) return { status: 200, json: { id: NUMBER } };
    if (path !== `/${NUMBER}/messages`) return no(404, 100);
    if (service.isFailing()) return no(503, 131_016);
    const given = parsed(body) as unknown as Outgoing;
    const text = given.text?.body ?? given.interactive?.body.text ?? '';
    if (text.length > (given.interactive === undefined ? 4_096 : 1_024)) return no(400, 100);
    const buttons = given.interactive?.action.buttons ?? [];
    if (buttons.length > 3 || buttons.some(({ reply }) => reply.title.length > 20)) {
      return no(400, 100);
    }
    service.keep({
      conversation: given.to,
      text: text.replaceAll('```', ''),
      buttons: buttons.map(({ reply }) => ({ label: reply.title, data: reply.id })),
      isEdit: false,
      markup: [
        // Marks of an answer do no harm; a question is shown as it is.
        ...(given.interactive === undefined ? [] : (outsideBlocks(text).match(FORMATTED) ?? [])),
        ...(given.text?.preview_url === true ? ['a preview'] : []),
      ],
    });
    return { status: 200, json: { messaging_product: 'whatsapp', messages: [{ id: nextId() }] } };
  });

  const post = async (
    message: { readonly from: string; readonly [field: string]: unknown },
    secret = SECRET,
  ) => {
    const value = {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550783881', phone_number_id: NUMBER },
      contacts: [{ profile: { name: `User ${message.from}` }, wa_id: message.from }],
      messages: [message],
    };
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
    });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = { 'x-hub-signature-256': `sha256=${signature}` };
    return (await fetch(url, { method: 'POST', body, headers })).status;
  };
  const messageOf = ({ from, text, id, atMs = Date.now(), group }: Saying) => ({
    from,
    id: id ?? nextId(),
    timestamp: String(Math.floor(atMs / 1_000)),
    type: 'text',
    text: { body: text },
    ...(group && { group_id: 'a group' }),
  });
  return {
    service,
    settings: {
      whatsapp: {
        token_ref: 'token',
        phone_number_id: NUMBER,
        app_secret_ref: 'app',
        verify_token_ref: 'verify',
        api_url: http.url,
        allowed: [],
        groups: [],
      },
    },
    secrets: { token: TOKEN, app: SECRET, verify: VERIFY },
    users: { owner: '16505551001', stranger: '16505556666' },
    group: 'none',
    connect: (to) => {
      url = to;
    },
    chatOf: (user) => user,
    say: (saying) => post(messageOf(saying)),
    press: (by, _conversation, id) =>
      post({
        from: by,
        id: nextId(),
        timestamp: String(Math.floor(Date.now() / 1_000)),
        type: 'interactive',
        context: { from: '15550783881', id: 'wamid.0' },
        interactive: { type: 'button_reply', button_reply: { id, title: 'A button' } },
      }),
    forge: (saying) => post(messageOf(saying), 'another secret of that length'),
    close: http.close,
  };
}
