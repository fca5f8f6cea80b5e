// The JSON-RPC of a signal-cli daemon over TCP.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { ChatService, type ChatStandIn, parsed, type Saying } from './chat-service.ts';

const ACCOUNT = '+4915100000000';
const GROUP = 'Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI=';

interface SendParams {
  readonly account: string;
  readonly message: string;
  readonly recipient?: readonly string[];
  readonly groupId?: string;
  readonly textStyle?: unknown;
}

export async function startSignal(): Promise<ChatStandIn> {
  const service = new ChatService();
  const sockets = new Set<Socket>();
  let atMs = 0;
  let connected: () => void = () => undefined;

  const answer = (line: string) => {
    const { id, method, params } = parsed(line) as unknown as {
      id: string;
      method: string;
      params: SendParams;
    };
    const no = (code: number) => ({ jsonrpc: '2.0', id, error: { code, message: 'It failed.' } });
    if (method !== 'send' || params.account !== ACCOUNT) return no(-32_601);
    if (service.isFailing()) return no(-3);
    const { message, recipient = [], groupId } = params;
    service.keep({
      conversation: groupId === undefined ? (recipient[0] ?? '') : `group:${groupId}`,
      text: message,
      buttons: [],
      isEdit: false,
      markup: params.textStyle === undefined ? [] : ['a style'],
    });
    return {
      jsonrpc: '2.0',
      id,
      result: { timestamp: (atMs += 1), results: [{ type: 'SUCCESS' }] },
    };
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    const lines = createInterface({ input: socket });
    lines.on('error', () => undefined);
    lines.on('line', (line) => socket.write(`${JSON.stringify(answer(line))}\n`));
    connected();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const notify = async ({ from, text, id, atMs: at, group }: Saying) => {
    while (sockets.size === 0) await new Promise<void>((resolve) => (connected = resolve));
    atMs = Math.max(atMs + 1, Date.now());
    const timestamp = id === undefined ? (at ?? atMs) : Number(id);
    const isMention = group?.isMention === true;
    const dataMessage = {
      timestamp,
      message: isMention ? `\uFFFC ${text}` : text,
      ...(group && { groupInfo: { groupId: GROUP, type: 'DELIVER' } }),
      ...(isMention && { mentions: [{ number: ACCOUNT, start: 0, length: 1 }] }),
    };
    const who = { source: from, sourceUuid: from, sourceNumber: null, sourceName: `User ${from}` };
    const envelope = { ...who, sourceDevice: 1, timestamp, dataMessage };
    const params = { envelope, account: ACCOUNT };
    const line = JSON.stringify({ jsonrpc: '2.0', method: 'receive', params });
    for (const socket of sockets) socket.write(`${line}\n`);
    return undefined;
  };
  return {
    service,
    settings: {
      signal: {
        account: ACCOUNT,
        rpc: `127.0.0.1:${port}`,
        allowed: [],
        groups: [`group:${GROUP}`],
      },
    },
    secrets: {},
    users: {
      owner: '11111111-aaaa-4aaa-8aaa-000000001001',
      stranger: '66666666-aaaa-4aaa-8aaa-000000006666',
    },
    group: `group:${GROUP}`,
    connect: () => undefined,
    chatOf: (user) => user,
    say: notify,
    press: () => Promise.reject(new Error('Signal has no buttons.')),
    forge: () => Promise.reject(new Error('Whoever has the socket is signal-cli.')),
    cut: () => {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
