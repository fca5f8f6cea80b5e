// What every server that takes turns has in common: its bounds, no WebSockets, and an end that waits
// for nobody who is silent.
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import {
  ConnectionGate,
  closeHttpServer,
  type GateLimits,
  refuseUpgrades,
} from '@subluminal/plane/os';

export const SERVER_OPTIONS: ServerOptions = {
  maxHeaderSize: 65_536,
  headersTimeout: 10_000,
  // A request may carry megabytes, and come slowly.
  requestTimeout: 120_000,
  keepAliveTimeout: 60_000,
  noDelay: true,
};

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface BoundServerOptions {
  readonly limits: GateLimits;
  /** Answers a request that may not come in, and says so. */
  readonly isRefused?: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly handle: RequestHandler;
}

/** Ends connections that are idle or were never used, waits for the others, and cuts them off after `graceMs`. */
export type CloseServer = (graceMs: number) => Promise<void>;

/** Before it listens. */
export function boundServer(
  server: Server,
  { limits, isRefused = () => false, handle }: BoundServerOptions,
): CloseServer {
  const gate = new ConnectionGate(limits);
  gate.watch(server);
  server.on('request', (request, response) => {
    if (!isRefused(request, response) && gate.admit(request.socket)) handle(request, response);
  });
  // Codex tries a WebSocket first where it may, and takes this as a no.
  refuseUpgrades(server);
  server.on('error', () => {});
  return async (graceMs) => {
    const closed = closeHttpServer(server, graceMs);
    gate.dropWaiting();
    await closed;
  };
}
