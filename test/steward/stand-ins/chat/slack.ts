// Slack: its Web API, and the signed events and presses that it sends to an app.
import { createHmac } from 'node:crypto';
import { ChatService, type ChatStandIn, type Saying, serveJson } from './chat-service.ts';

const TOKEN = 'xoxb-slack-token-of-the-test';
const SECRET = 'slack-signing-secret-of-the-test';
const GROUP = 'C077';

interface Block {
  readonly text?: { readonly type: string; readonly text: string };
  readonly elements?: readonly { text: { text: string }; value: string }[];
}

export async function startSlack(): Promise<ChatStandIn> {
  const service = new ChatService();
  let url = '';
  let count = 0;
  const stamp = (atMs: number) =>
    `${Math.floor(atMs / 1_000)}.${String((count += 1)).padStart(6, '0')}`;

  const http = await serveJson(({ path, headers, body }) => {
    const method = path.slice(1);
    const given: { readonly [key: string]: string } = Object.fromEntries(new URLSearchParams(body));
    const no = (error: string) => ({ status: 200, json: { ok: false, error } });
    if (headers.authorization !== `Bearer ${TOKEN}`) return no('invalid_auth');
    if (method === 'auth.test') return { status: 200, json: { ok: true, user_id: 'UBOT' } };
    if (method !== 'chat.postEphemeral' && service.isFailing()) return { status: 503, json: {} };
    const blocks = JSON.parse(given['blocks'] ?? '[]') as readonly Block[];
    const text = given['text'] ?? '';
    if (text.length > 40_000 || blocks.some((one) => (one.text?.text.length ?? 0) > 3_000)) {
      return no('invalid_blocks');
    }
    const plain = blocks.find(({ text: part }) => part?.type === 'plain_text')?.text?.text;
    const ts = given['ts'] ?? stamp(Date.now());
    service.keep({
      conversation: given['channel'] ?? '',
      text: plain ?? text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
      buttons: blocks.flatMap(({ elements = [] }) =>
        elements.map((one) => ({ label: one.text.text, data: one.value })),
      ),
      isEdit: method === 'chat.update',
      ...(method === 'chat.postEphemeral' && { onlyFor: given['user'] ?? '' }),
      markup: text.match(/<[^>]*>/g) ?? [],
    });
    return { status: 200, json: { ok: true, ts, channel: given['channel'] } };
  });

  const post = async (body: string, secret = SECRET, atS = Math.floor(Date.now() / 1_000)) => {
    const signature = createHmac('sha256', secret).update(`v0:${atS}:${body}`).digest('hex');
    const headers = {
      'x-slack-request-timestamp': String(atS),
      'x-slack-signature': `v0=${signature}`,
    };
    return (await fetch(url, { method: 'POST', body, headers })).status;
  };
  const eventOf = ({ from, text, id, atMs = Date.now(), group }: Saying) => {
    const ts = id === undefined ? stamp(atMs) : `${Math.floor(atMs / 1_000)}.${id.slice(-6)}`;
    const shared = { user: from, ts };
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const event =
      group === undefined
        ? { type: 'message', channel_type: 'im', channel: `D${from}`, text: escaped, ...shared }
        : {
            type: group.isMention ? 'app_mention' : 'message',
            channel: GROUP,
            text: group.isMention ? `<@UBOT> ${escaped}` : escaped,
            ...shared,
          };
    return JSON.stringify({ type: 'event_callback', event_id: `Ev${(count += 1)}`, event });
  };
  return {
    service,
    settings: {
      slack: {
        token_ref: 'token',
        signing_secret_ref: 'signing',
        api_url: `${http.url}/`,
        allowed: [],
        groups: [GROUP],
      },
    },
    secrets: { token: TOKEN, signing: SECRET },
    users: { owner: 'U1001', stranger: 'U6666' },
    group: GROUP,
    connect: (to) => {
      url = to;
    },
    chatOf: (user) => `D${user}`,
    say: (saying) => post(eventOf(saying)),
    press: (by, conversation, value) => {
      const payload = JSON.stringify({
        type: 'block_actions',
        user: { id: by, username: by.toLowerCase() },
        channel: { id: conversation },
        trigger_id: String((count += 1)),
        actions: [{ action_id: 'steward', value }],
      });
      return post(`payload=${encodeURIComponent(payload)}`);
    },
    forge: (saying) => post(eventOf(saying), 'another secret of that length'),
    close: http.close,
  };
}
