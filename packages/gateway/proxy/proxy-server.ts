// The loopback address that all agents of this machine speak to.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Failure, tableFailure } from '@subluminal/contracts';
import {
  type AgentServer,
  openAgentServer,
  sendError,
  sendUnknownPath,
} from '../listen/agent-server.ts';
import { type PeerProcess, peerProcess } from './peer-process.ts';

export interface ProxyServerOptions {
  readonly port: number;
  /** Where runs are on file. */
  readonly home: string;
  /** What a model is asked for; false for a path that leads to none. */
  readonly turn: (request: IncomingMessage, response: ServerResponse, peer: PeerProcess) => boolean;
  /** What `/_aicg/NAME` answers. */
  readonly told: { readonly [name: string]: () => Promise<object> | object };
}

const OWN_PATH = /^\/_aicg\/([a-z]+)(?:\?|$)/;

export async function openProxyServer(options: ProxyServerOptions): Promise<AgentServer | Failure> {
  const { port, home } = options;
  const peers = new WeakMap<Socket, PeerProcess>();
  const peerOf = ({ socket }: IncomingMessage): PeerProcess => {
    const peer = peers.get(socket) ?? peerProcess(socket, home);
    peers.set(socket, peer);
    return peer;
  };
  const server = await openAgentServer({
    port,
    refusal: (request) =>
      isForeign(peerOf(request)) ? 'It serves the user who started it alone.' : undefined,
    handle: (request, response) => serve(request, response, { ...options, peer: peerOf(request) }),
  });
  if (server.kind === 'listening') return server;
  return tableFailure('SUB_PROXY_LISTEN', `127.0.0.1:${port} gives ${server.why}.`);
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
  sendUnknownPath(request, response);
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
    sendError(response, 500, 'This could not be answered.');
  }
}
