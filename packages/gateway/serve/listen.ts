// The address that a gateway listens on, with TLS where the configuration has it.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { type Failure, tableFailure } from '@subluminal/contracts';
import { ConnectionGate, systemCode } from '@subluminal/plane/os';
import type { GatewaySettings, TlsSettings } from '../config/index.ts';

export interface GatewayListener {
  readonly url: string;
  /** Ends connections that are idle or were never used, waits for the others, and cuts them off after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const HEADER_BYTES_MAX = 65_536;
const LIMITS: ServerOptions = {
  maxHeaderSize: HEADER_BYTES_MAX,
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  keepAliveTimeout: 60_000,
  noDelay: true,
};
/** Connections that have sent a request, and those that have not. */
const CONNECTIONS = { connectionsMax: 8_192, waitingMax: 1_024 };
const HANDSHAKE_MS = 10_000;
const IDLE_EVERY_MS = 50;

export async function listenForGateway(
  settings: Pick<GatewaySettings, 'listen' | 'tls'>,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<GatewayListener | Failure> {
  const { listen, tls } = settings;
  const server = openServer(tls);
  if (!('listen' in server)) return server;
  const gate = new ConnectionGate(CONNECTIONS);
  server.maxConnections = gate.acceptedMax;
  server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) => gate.add(socket));
  server.on('request', (request, response) => {
    if (gate.admit(request.socket)) handle(request, response);
  });
  // A client that tries a WebSocket first takes this as a no.
  server.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  try {
    const listening = once(server, 'listening');
    server.listen({ host: listen.host, port: listen.port, exclusive: true });
    await listening;
  } catch (cause) {
    const where = `${listen.host}:${listen.port}`;
    return tableFailure('SUB_GATEWAY_LISTEN', `${where} (${systemCode(cause)})`);
  }
  server.on('error', () => {});
  const close = async (graceMs: number) => {
    const closed = closeServer(server, graceMs);
    gate.dropWaiting();
    await closed;
  };
  return { url: urlOf(server, tls), close };
}

function openServer(tls: TlsSettings | null): Server | Failure {
  if (tls === null) return createServer(LIMITS);
  try {
    const ca = tls.clientCaFile === null ? undefined : readFileSync(tls.clientCaFile);
    return createTlsServer({
      ...LIMITS,
      cert: readFileSync(tls.certFile),
      key: readFileSync(tls.keyFile),
      minVersion: 'TLSv1.2',
      handshakeTimeout: HANDSHAKE_MS,
      ...(ca !== undefined && { ca, requestCert: true, rejectUnauthorized: true }),
    });
  } catch (cause) {
    return tableFailure('SUB_GATEWAY_TLS', `(${systemCode(cause)})`);
  }
}

function urlOf(server: Server, tls: TlsSettings | null): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no address');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `${tls === null ? 'http' : 'https'}://${host}:${address.port}`;
}

/** Ends idle connections, waits for the others, and cuts them off after `graceMs`. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const overdue = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection whose last answer has just gone out is idle, too.
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_EVERY_MS);
    server.close(() => {
      clearTimeout(overdue);
      clearInterval(idle);
      resolve();
    });
  });
}
