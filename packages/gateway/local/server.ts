// The loopback address that the agent of one run speaks to. Only who knows the token of the run gets in: it
// stands in the path, or in a header where the address would be seen in a list of processes.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Failure, failure } from '@subluminal/contracts';
import type { WireName } from '@subluminal/core/wires';
import { ConnectionGate, listenOnLoopback, loopbackGuard } from '@subluminal/plane/os';
import { askedFor, routeOf, TOKEN_HEADER } from './upstreams.ts';

export interface TurnRoute {
  readonly wire: WireName;
  readonly kind: 'answer' | 'count_tokens';
  /** Behind the token, with its query; the first segment is the route. */
  readonly path: string;
}

export interface LocalServerOptions {
  readonly turn: (request: IncomingMessage, response: ServerResponse, route: TurnRoute) => void;
  /** Reads that hold nothing of the conversation, such as a list of models. */
  readonly pass: (request: IncomingMessage, response: ServerResponse, path: string) => void;
}

export interface LocalServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly token: string;
  close(): Promise<void>;
}

const TOKEN_BYTES = 32;
const LIMITS = { connectionsMax: 512, waitingMax: 128 };
const HEADER_BYTES_MAX = 65_536;
const HEADERS_MS = 10_000;
/** A request may carry megabytes, and come slowly. */
const REQUEST_MS = 120_000;
const IDLE_MS = 60_000;
const CLOSE_MS = 500;

export async function openLocalServer(options: LocalServerOptions): Promise<LocalServer | Failure> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
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
  const guard = loopbackGuard({ token, port: () => portOf(server), credential: tokenIn });
  server.on('request', (request, response) => {
    const check = guard(request);
    if (check !== undefined)
      return answer(response, check === 'token' ? 401 : 403, REFUSALS[check]);
    if (!gate.admit(request.socket)) return;
    serve(request, response, options);
  });
  // Codex tries a WebSocket first where it may, and takes this as a no.
  server.on('upgrade', (_request, socket: Duplex) => {
    const head = 'HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
    socket.end(head, () => socket.destroy());
  });
  const listening = await listenOnLoopback(server, { host: '127.0.0.1', port: 0 });
  if (listening.kind !== 'listening') {
    const message = `No port of 127.0.0.1 could be opened for the model calls of the run: ${listening.why}.`;
    return failure('SUB_MODELS_LISTEN', message, 'Free a port, or run without --models.');
  }
  server.on('error', () => {});
  return { url: listening.url, token, close: () => closeServer(server) };
}

const REFUSALS = {
  host: 'The Host is not this address.',
  origin: 'This address does not speak to web pages.',
  token: 'The token of the run is missing or wrong.',
};

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { turn, pass }: LocalServerOptions,
): void {
  const path = pathOf(request);
  const asked = routeOf(path) === undefined ? undefined : askedFor(request.method ?? '', path);
  if (asked === undefined) {
    const what = `${request.method ?? ''} of this path is not known here, and nothing unknown goes on to a model.`;
    return answer(response, 404, what);
  }
  if (asked.kind === 'pass') return pass(request, response, path);
  turn(request, response, { wire: asked.wire, kind: asked.kind, path });
}

const TOKEN_PATH = /^\/t\/([A-Za-z0-9_-]{1,128})(?=[/?]|$)/;

function tokenIn({ url = '', headers }: IncomingMessage): string | undefined {
  const given = headers[TOKEN_HEADER];
  return TOKEN_PATH.exec(url)?.[1] ?? (typeof given === 'string' ? given : undefined);
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(TOKEN_PATH, '');
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Both wires read `error.message`. */
export function answer(response: ServerResponse, status: number, message: string): void {
  const text = JSON.stringify({
    type: 'error',
    error: {
      type: status === 404 ? 'not_found_error' : 'permission_error',
      message: `Subluminal: ${message}`,
    },
  });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, { ...headers, connection: 'close' }).end(text);
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    const overdue = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
    server.close(() => {
      clearTimeout(overdue);
      resolve();
    });
    server.closeIdleConnections();
  });
}
