// The address that a gateway listens on, with TLS where the configuration has it.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type Failure, tableFailure } from '@subluminal/contracts';
import { listenOnAddress, systemCode } from '@subluminal/plane/os';
import type { GatewaySettings, TlsSettings } from '../config/index.ts';
import {
  boundServer,
  type CloseServer,
  type RequestHandler,
  SERVER_OPTIONS,
} from '../listen/bound-server.ts';

export interface GatewayListener {
  readonly url: string;
  readonly close: CloseServer;
}

/** Connections that have sent a request, and those that have not. */
const CONNECTIONS = { connectionsMax: 8_192, waitingMax: 1_024 };
const HANDSHAKE_MS = 10_000;

export async function listenForGateway(
  settings: Pick<GatewaySettings, 'listen' | 'tls'>,
  handle: RequestHandler,
): Promise<GatewayListener | Failure> {
  const { listen, tls } = settings;
  const server = openServer(tls);
  if (!('listen' in server)) return server;
  const close = boundServer(server, { limits: CONNECTIONS, handle });
  const listening = await listenOnAddress(server, listen);
  if (listening.kind === 'failed') {
    const where = `${listen.host}:${listen.port}`;
    return tableFailure('SUB_GATEWAY_LISTEN', `${where} (${listening.why})`);
  }
  const { url } = listening;
  return { url: tls === null ? url : url.replace('http:', 'https:'), close };
}

function openServer(tls: TlsSettings | null): Server | Failure {
  if (tls === null) return createServer(SERVER_OPTIONS);
  try {
    const ca = tls.clientCaFile === null ? undefined : readFileSync(tls.clientCaFile);
    return createTlsServer({
      ...SERVER_OPTIONS,
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
