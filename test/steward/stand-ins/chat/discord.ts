// Discord: its REST API, and a gateway that says hello, takes heartbeats, identifies and resumes.
import { type WebSocket, WebSocketServer } from 'ws';
import { ChatService, type ChatStandIn, parsed, type Saying, serveJson } from './chat-service.ts';

const TOKEN = 'discord-token-of-the-test';
const BOT = '900000000000000001';
const GROUP = '770000000000000077';
const ACTIVE = /(?<!\\)(?:\*\*[^*]+\*\*|\[[^\]]*\]\([^)]*\)|<[@#:][^>]*>|@everyone|@here|`[^`]+`)/g;

interface Outgoing {
  readonly content: string;
  readonly flags?: number;
  readonly allowed_mentions?: { readonly parse: readonly string[] };
  readonly components?: readonly {
    readonly components: readonly { readonly label: string; readonly custom_id: string }[];
  }[];
}

export interface DiscordStandIn extends ChatStandIn {
  /** Names of what the gateway was sent, in order. */
  readonly ops: readonly string[];
  untilOp(name: string, count: number): Promise<void>;
}

export async function startDiscord({ beatMs = 30_000 } = {}): Promise<DiscordStandIn> {
  const service = new ChatService();
  const ops: string[] = [];
  const looks = new Set<() => void>();
  const sockets = new Set<WebSocket>();
  let seq = 0;
  let count = 1_000;
  const nextId = () => String((count += 1)).padStart(18, '8');
  let isReady: () => void = () => undefined;

  const http = await serveJson(({ method, path, headers, body }) => {
    const no = (status: number) => ({ status, json: { code: 0 } });
    const given = parsed(body) as unknown as Outgoing & { data?: Outgoing; type?: number };
    const [, who, conversation] =
      /^\/api\/interactions\/\d+\/token-(\d+)-(\d+)\/callback$/.exec(path) ?? [];
    if (who !== undefined && conversation !== undefined) {
      keep(conversation, given.data ?? { content: '' }, { onlyFor: who });
      return { status: 200, json: {} };
    }
    if (headers.authorization !== `Bot ${TOKEN}`) return no(401);
    if (path === '/api/gateway/bot') return { status: 200, json: { url: wsUrl() } };
    const [, channel, message] = /^\/api\/channels\/(\d+)\/messages(?:\/(\d+))?$/.exec(path) ?? [];
    if (channel === undefined) return no(404);
    if (service.isFailing()) return no(503);
    if (given.content.length > 2_000) return no(400);
    keep(channel, given, { isEdit: method === 'PATCH' });
    return { status: 200, json: { id: message ?? nextId(), channel_id: channel } };
  });
  const wsUrl = () => http.url.replace('http', 'ws');
  const keep = (conversation: string, given: Outgoing, more: object) => {
    const active = given.content.match(ACTIVE) ?? [];
    const isSilent = given.allowed_mentions?.parse.length === 0;
    service.keep({
      conversation,
      text: given.content.replaceAll(/\\([\W_])/g, '$1'),
      buttons: (given.components ?? []).flatMap((row) =>
        row.components.map((one) => ({ label: one.label, data: one.custom_id })),
      ),
      isEdit: false,
      markup: isSilent ? active : [...active, 'mentions are not turned off'],
      ...more,
    });
  };

  const send = (socket: WebSocket, frame: object) => socket.send(JSON.stringify(frame));
  const dispatch = (socket: WebSocket, t: string, d: object) => {
    send(socket, { op: 0, s: (seq += 1), t, d });
  };
  const gateway = new WebSocketServer({ server: http.server });
  gateway.on('connection', (socket) => {
    send(socket, { op: 10, d: { heartbeat_interval: beatMs } });
    socket.on('close', () => sockets.delete(socket));
    socket.on('message', (data: Buffer) => {
      const { op, d } = parsed(data.toString('utf8')) as unknown as { op: number; d: never };
      const name = { 1: 'heartbeat', 2: 'identify', 6: 'resume' }[op] ?? String(op);
      ops.push(name);
      if (name === 'heartbeat') send(socket, { op: 11 });
      else if ((d as { token: string }).token !== TOKEN) socket.close(4004);
      else if (name === 'identify') {
        const ready = { session_id: 'session-1', resume_gateway_url: wsUrl(), user: { id: BOT } };
        dispatch(socket, 'READY', ready);
      } else dispatch(socket, 'RESUMED', {});
      if (name !== 'heartbeat') {
        sockets.add(socket);
        isReady();
      }
      for (const look of looks) look();
    });
  });

  const all = async (t: string, d: object) => {
    while (sockets.size === 0) await new Promise<void>((resolve) => (isReady = resolve));
    for (const socket of sockets) dispatch(socket, t, d);
    return undefined;
  };
  return {
    service,
    ops,
    untilOp: (name, times) =>
      new Promise((resolve) => {
        const look = () => {
          if (ops.filter((one) => one === name).length < times) return;
          looks.delete(look);
          resolve();
        };
        looks.add(look);
        look();
      }),
    settings: {
      discord: { token_ref: 'token', api_url: `${http.url}/api`, allowed: [], groups: [GROUP] },
    },
    secrets: { token: TOKEN },
    users: { owner: '100000000000001001', stranger: '600000000000006666' },
    group: GROUP,
    connect: () => undefined,
    chatOf: (user) => `5${user.slice(1)}`,
    say: ({ from, text, id, atMs = Date.now(), group }: Saying) =>
      all('MESSAGE_CREATE', {
        id: id ?? nextId(),
        channel_id: group === undefined ? `5${from.slice(1)}` : GROUP,
        author: { id: from, username: `user${from}` },
        content: group?.isMention === true ? `<@${BOT}> ${text}` : text,
        timestamp: new Date(atMs).toISOString(),
        mentions: group?.isMention === true ? [{ id: BOT }] : [],
        ...(group && { guild_id: '1' }),
      }),
    press: (by, conversation, data) =>
      all('INTERACTION_CREATE', {
        id: nextId(),
        type: 3,
        token: `token-${by}-${conversation}`,
        channel_id: conversation,
        user: { id: by, username: `user${by}` },
        data: { custom_id: data, component_type: 2 },
      }),
    forge: () => Promise.reject(new Error('Events come by a connection that we have made.')),
    cut: () => {
      for (const socket of sockets) socket.terminate();
      sockets.clear();
    },
    close: async () => {
      for (const socket of gateway.clients) socket.terminate();
      gateway.close();
      await http.close();
    },
  };
}
