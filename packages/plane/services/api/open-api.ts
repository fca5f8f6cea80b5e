// Opens the API on a port of this machine alone, and closes it.
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { visible } from '@subluminal/core/visible';
import { ConnectionGate } from '../../os/index.ts';
import { appOf } from './app.ts';
import { answerCallback, callbackFor } from './callbacks.ts';
import {
  failed,
  listening,
  SECURITY_HEADERS,
  sendProblem,
  serverOf,
  unreadableEnds,
  urlOf,
} from './http-server.ts';
import { type Guard, guardOf } from './request-guard.ts';
import { Streams } from './streams.ts';
import { type Api, type ApiLimits, type ApiOptions, LIMITS, type OpenApiResult } from './types.ts';

/** What it may be bound to; a name is not looked up. */
const ADDRESSES: { readonly [host: string]: string } = {
  '127.0.0.1': '127.0.0.1',
  localhost: '127.0.0.1',
  '::1': '::1',
};
const TOKEN = /^[\w.~-]{32,512}$/;
const PORT_MAX = 65_535;
const WARNING_LENGTH_MAX = 500;

export async function openApi(options: ApiOptions): Promise<OpenApiResult> {
  const { host = '127.0.0.1', port = 0, token } = options;
  const address = Object.hasOwn(ADDRESSES, host) ? ADDRESSES[host] : undefined;
  if (address === undefined) {
    return failed(`It would listen on ${visible(host, 100)}, where others could reach it.`);
  }
  if (!TOKEN.test(token)) {
    return failed('The token must have 32 to 512 letters, digits, `-`, `.`, `_` or `~`.');
  }
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) {
    return failed(`A port is a number from 0 to ${PORT_MAX}.`);
  }
  const limits = { ...LIMITS, ...options.limits };
  const gate = new ConnectionGate(limits);
  const server = serverOf(limits, gate);
  const heard = await listening(server, { host: address, port });
  if (typeof heard === 'string') return failed(heard);
  return { ok: true, api: run(server, { ...options, limits, gate, address: heard }) };
}

interface Running extends Omit<ApiOptions, 'limits'> {
  readonly limits: ApiLimits;
  readonly gate: ConnectionGate;
  readonly address: AddressInfo;
}

/** Everything is attached in the turn in which the server began to listen: no request is missed. */
function run(server: Server, options: Running): Api {
  const { reader, feed, limits, gate, token, origins = [], onWarning, address } = options;
  const { callbacks = new Map() } = options;
  const asks = guardOf({ token, origins, port: address.port });
  // Whoever has the token is no stranger any more.
  const guard: Guard = (request) => {
    const problem = asks(request);
    if (problem?.status !== 401 && problem?.status !== 403) gate.admit(request.socket);
    return problem;
  };
  const onStreamWarning = (cause: unknown) =>
    onWarning?.(`A stream has ended: ${visible(String(cause), WARNING_LENGTH_MAX)}`);
  const streams = new Streams({ reader, feed, limits, onWarning: onStreamWarning });
  const app = appOf({ ...options, streams: () => streams.count });
  // It would put its own Request and Response in place of the process's.
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  server.on('request', (request, response) => {
    const callback = callbackFor(callbacks, request);
    if (callback !== undefined) return void answerCallback(callback, request, response);
    const problem = guard(request);
    if (request.socket.destroyed) return;
    if (problem !== undefined) return sendProblem(response, problem);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    void answer(request, response);
  });
  listen(server, guard, streams);
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closed(server, streams, limits.closeMs));
  return { url: urlOf(address), close };
}

function listen(server: Server, guard: Guard, streams: Streams): void {
  server.on('upgrade', (request: IncomingMessage, socket, head) =>
    streams.take(guard, { request, socket, head }),
  );
  unreadableEnds(server);
}

/** Lets answers under way and goodbyes through for a moment, then cuts what is left. */
async function closed(server: Server, streams: Streams, graceMs: number): Promise<void> {
  streams.close();
  const timer = setTimeout(() => {
    streams.terminate();
    server.closeAllConnections();
  }, graceMs);
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeIdleConnections();
  });
  clearTimeout(timer);
  streams.terminate();
}
