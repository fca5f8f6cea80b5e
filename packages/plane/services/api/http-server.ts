// A bounded HTTP server: how it is made, bound and closed.
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Failure, tableFailure } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { type ConnectionGate, listenOnAddress } from '../../os/index.ts';
import { badRequest, type HttpFailure, httpFailure, rawFailure } from './http-failure.ts';
import type { ApiLimits } from './types.ts';

const HEADERS_MAX = 100;

export function boundedServer(limits: ApiLimits, gate: ConnectionGate): Server {
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.requestMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.ceil(limits.requestMs / 4),
    keepAliveTimeout: limits.keepAliveMs,
    // The guard answers in our words.
    requireHostHeader: false,
  });
  server.maxHeadersCount = HEADERS_MAX;
  server.maxConnections = gate.acceptedMax;
  server.timeout = limits.stallMs;
  server.on('connection', (socket: Socket) => gate.add(socket));
  server.on('clientError', (cause: NodeJS.ErrnoException, socket: Socket) => {
    // Never in the middle of another answer.
    const isFresh = socket.writable && socket.bytesWritten === 0;
    if (isFresh) socket.end(rawFailure(unreadable(cause.code)), () => socket.destroy());
    else socket.destroy();
  });
  return server;
}

function unreadable(code: string | undefined): HttpFailure {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return httpFailure(431, 'SUB_API_LIMIT', 'The address or the headers are too long.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return httpFailure(408, 'SUB_API_LIMIT', 'The request took too long.');
  }
  return badRequest('It is not HTTP.');
}

export function startFailure(detail: string): Failure {
  return tableFailure('SUB_API_START', detail);
}

/** `why` is a code of the system, or a sentence. */
export function listenFailure({ host, port }: ListenAddress, why: string): Failure {
  if (why.includes(' ')) return startFailure(visible(why, 200));
  const what = why === 'EADDRINUSE' ? 'is in use' : 'cannot be listened on';
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return startFailure(`${authority} ${what} (${why}).`);
}

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Listens on any address; the URL, or why it cannot. */
export async function listenAnywhere(server: Server, at: ListenAddress): Promise<string | Failure> {
  const listening = await listenOnAddress(server, at);
  if (listening.kind === 'failed') return listenFailure(at, listening.why);
  server.on('error', () => undefined);
  return listening.url;
}
