// The Bot API of Telegram: long polls or webhooks, messages, buttons, edits.
import { ChatService, type ChatStandIn, parsed, type Saying, serveJson } from './chat-service.ts';

const TOKEN = '123456:telegram-token-of-the-test';
const BOT = { id: 123_456, is_bot: true, first_name: 'Steward', username: 'steward_bot' };
const SECRET = 'webhook-secret-of-the-test';

interface Update {
  readonly update_id: number;
}

export async function startTelegram(how: 'polled' | 'webhook' = 'polled'): Promise<ChatStandIn> {
  const service = new ChatService();
  const updates: Update[] = [];
  let lastId = 100;
  let wake: () => void = () => undefined;
  let confirmed: { readonly id: number; readonly done: () => void }[] = [];
  let webhook = { url: '', secret: '' };
  const nextId = () => (lastId += 1);

  const poll = async (offset: number, isGone: () => boolean) => {
    for (const one of confirmed) if (one.id < offset) one.done();
    confirmed = confirmed.filter(({ id }) => id >= offset);
    while (!updates.some(({ update_id }) => update_id >= offset) && !isGone()) {
      await new Promise<void>((resolve) => (wake = resolve));
    }
    return updates.filter(({ update_id }) => update_id >= offset);
  };

  const http = await serveJson(async ({ path, body, response }) => {
    const [, token, method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    const given = parsed(body);
    const ok = (result: unknown) => ({ status: 200, json: { ok: true, result } });
    const no = (code: number, description: string) => ({
      status: code,
      json: { ok: false, error_code: code, description },
    });
    if (token !== TOKEN) return no(401, 'Unauthorized');
    if (method === 'getMe') return ok(BOT);
    if (method === 'deleteWebhook') return ok(true);
    if (method === 'setWebhook') {
      webhook = { url: String(given['url']), secret: String(given['secret_token']) };
      return ok(true);
    }
    if (method === 'getUpdates') {
      let isGone = false;
      response.on('close', () => {
        isGone = true;
        wake();
      });
      return ok(await poll(Number(given['offset'] ?? 0), () => isGone));
    }
    if (method === 'answerCallbackQuery') {
      const [, onlyFor = '', conversation = ''] = String(given['callback_query_id']).split('/');
      const text = String(given['text']);
      service.keep({ conversation, text, buttons: [], isEdit: false, onlyFor, markup: [] });
      return ok(true);
    }
    if (method !== 'sendMessage' && method !== 'editMessageText') return no(404, 'Not Found');
    if (service.isFailing()) return no(502, 'Bad Gateway');
    const text = String(given['text']);
    if (text.length > 4_096) return no(400, 'Bad Request: message is too long');
    const { inline_keyboard: rows = [] } = (given['reply_markup'] ?? {}) as {
      inline_keyboard?: readonly (readonly { text: string; callback_data: string }[])[];
    };
    service.keep({
      conversation: String(given['chat_id']),
      text,
      buttons: rows.flat().map((one) => ({ label: one.text, data: one.callback_data })),
      isEdit: method === 'editMessageText',
      markup: given['parse_mode'] === undefined ? [] : ['a parse mode'],
    });
    return ok({ message_id: nextId(), date: 0, chat: { id: given['chat_id'], type: 'private' } });
  });

  const hand = async (update: object, secret = SECRET): Promise<number | undefined> => {
    const whole = { update_id: nextId(), ...update };
    if (how === 'webhook') {
      const headers = { 'x-telegram-bot-api-secret-token': secret };
      const init = { method: 'POST', body: JSON.stringify(whole), headers };
      let status = 503;
      for (let tries = 0; status === 503 && tries < 100; tries++) {
        status = (await fetch(webhook.url, init)).status;
      }
      return status;
    }
    const taken = new Promise<void>((done) => confirmed.push({ id: whole.update_id, done }));
    updates.push(whole);
    wake();
    await taken;
    return undefined;
  };
  const messageOf = ({ from, text, id, atMs = Date.now(), group }: Saying) => ({
    message: {
      message_id: id === undefined ? nextId() : Number(id),
      date: Math.floor(atMs / 1_000),
      from: { id: Number(from), is_bot: false, first_name: `User ${from}` },
      chat:
        group === undefined ? { id: Number(from), type: 'private' } : { id: -77, type: 'group' },
      text: group?.isMention === true ? `@steward_bot ${text}` : text,
      ...(group?.isMention === true && { entities: [{ type: 'mention', offset: 0, length: 12 }] }),
    },
  });
  return {
    service,
    settings: {
      telegram: {
        token_ref: 'token',
        api_url: http.url,
        ...(how === 'webhook' && { webhook_secret_ref: 'secret' }),
        allowed: [],
        groups: ['-77'],
      },
    },
    secrets: { token: TOKEN, secret: SECRET },
    users: { owner: '1001', stranger: '6666' },
    group: '-77',
    connect: (url) => {
      webhook = { ...webhook, url };
    },
    chatOf: (user) => user,
    say: (saying) => hand(messageOf(saying)),
    press: (by, conversation, data) =>
      hand({
        callback_query: {
          id: `query/${by}/${conversation}/${nextId()}`,
          from: { id: Number(by), is_bot: false, first_name: `User ${by}` },
          message: { message_id: 1, date: 0, chat: { id: Number(conversation), type: 'private' } },
          data,
        },
      }),
    forge: async (saying) => (await hand(messageOf(saying), 'a guess')) ?? 0,
    cut: () => http.server.closeAllConnections(),
    close: http.close,
  };
}
