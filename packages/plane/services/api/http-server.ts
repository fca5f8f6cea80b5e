// A bounded HTTP server: how it is made, bound and closed.
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Failure, tableFailure } from '@subluminal/contracts';
import { type ConnectionGate, systemCode } from '../../os/index.ts';
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

export function listen(
  server: Server,
  at: { readonly host: string; readonly port: number },
): Promise<AddressInfo | Failure> {
  return new Promise((resolve) => {
    server.once('error', (cause) => {
      const code = systemCode(cause);
      const what = code === 'EADDRINUSE' ? 'is in use' : 'cannot be listened on';
      resolve(startFailure(`${authority(at.host, at.port)} ${what} (${code}).`));
    });
    server.listen(at, () => {
      // After it listens, nothing that happens to it may end the process.
      server.on('error', () => undefined);
      const address = server.address();
      const isBound = typeof address === 'object' && address !== null;
      resolve(isBound ? address : startFailure('It has no address.'));
    });
  });
}

export function urlOf({ address, port }: AddressInfo): string {
  return `http://${authority(address, port)}`;
}

function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Lets answers under way through for a moment, then cuts what is left. */
export async function closeServer(
  server: Server,
  graceMs: number,
  onCut: () => void = () => undefined,
): Promise<void> {
  const timer = setTimeout(() => {
    onCut();
    server.closeAllConnections();
  }, graceMs);
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeIdleConnections();
  });
  clearTimeout(timer);
}
