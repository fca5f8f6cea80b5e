// The loopback address that all agents of this machine speak to.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Failure, tableFailure } from '@subluminal/contracts';
import { ConnectionGate, listenOnLoopback, loopbackGuard } from '@subluminal/plane/os';
import { answer } from '../local/server.ts';
import { closeServer } from '../serve/listen.ts';
import { type PeerProcess, peerProcess } from './peer-process.ts';

export interface ProxyServerOptions {
  readonly port: number;
  /** What a model is asked for; false for a path that leads to none. */
  readonly turn: (request: IncomingMessage, response: ServerResponse, peer: PeerProcess) => boolean;
  /** What `/_aicg/NAME` answers. */
  readonly told: { readonly [name: string]: () => Promise<object> | object };
}

export interface ProxyServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Takes no more turns, and waits for those under way, at most so long. */
  close(graceMs: number): Promise<void>;
}

const LIMITS = { connectionsMax: 512, waitingMax: 128 };
const HEADER_BYTES_MAX = 65_536;
const HEADERS_MS = 10_000;
/** A request may carry megabytes, and come slowly. */
const REQUEST_MS = 120_000;
const IDLE_MS = 60_000;
const OWN_PATH = /^\/_aicg\/([a-z]+)(?:\?|$)/;
const REFUSALS = {
  host: 'The Host is not this address.',
  origin: 'This address does not speak to web pages.',
  token: 'This address asks for a token.',
};

export async function openProxyServer(options: ProxyServerOptions): Promise<ProxyServer | Failure> {
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: IDLE_MS,
    noDelay: true,
  });
  const gate = new ConnectionGate(LIMITS);
  server.maxConnections = gate.acceptedMax;
  server.on('connection', (socket) => gate.add(socket));
  const guard = loopbackGuard({ port: () => portOf(server) });
  const peers = new WeakMap<Socket, PeerProcess>();
  server.on('request', (request, response) => {
    const check = guard(request);
    if (check !== undefined) return answer(response, 403, REFUSALS[check]);
    const peer = peers.get(request.socket) ?? peerProcess(request.socket);
    peers.set(request.socket, peer);
    if (isForeign(peer)) return answer(response, 403, 'It serves the user who started it alone.');
    if (!gate.admit(request.socket)) return;
    serve(request, response, { ...options, peer });
  });
  // Codex tries a WebSocket first where it may, and takes this as a no.
  server.on('upgrade', (_request, socket) => {
    const head = 'HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
    socket.end(head, () => socket.destroy());
  });
  const { port } = options;
  const listening = await listenOnLoopback(server, { host: '127.0.0.1', port });
  if (listening.kind !== 'listening') {
    return tableFailure('SUB_PROXY_LISTEN', `127.0.0.1:${port} gives ${listening.why}.`);
  }
  server.on('error', () => {});
  return { url: listening.url, close: (graceMs) => closeServer(server, graceMs) };
}

/** The key of this user is not for others of this machine. */
function isForeign({ uid }: PeerProcess): boolean {
  return uid !== undefined && uid !== process.getuid?.();
}

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { turn, told, peer }: ProxyServerOptions & { readonly peer: PeerProcess },
): void {
  const { method = '', url = '' } = request;
  // A client asks whether anybody is there.
  if (method === 'HEAD') {
    response.writeHead(200, { 'content-length': 0 }).end();
    return;
  }
  const name = method === 'GET' ? OWN_PATH.exec(url)?.[1] : undefined;
  const tell = name !== undefined && Object.hasOwn(told, name) ? told[name] : undefined;
  if (tell !== undefined) return void sendJson(response, tell);
  if (turn(request, response, peer)) return;
  const what = `${method} of this path is not known here, and nothing unknown goes on to a model.`;
  answer(response, 404, what);
}

async function sendJson(
  response: ServerResponse,
  tell: () => Promise<object> | object,
): Promise<void> {
  try {
    const text = `${JSON.stringify(await tell())}\n`;
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(200, headers).end(text);
  } catch {
    answer(response, 500, 'This could not be answered.');
  }
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
