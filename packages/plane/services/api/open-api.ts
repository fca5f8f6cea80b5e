// Opens the API on a port of this machine alone, and closes it.
import type { IncomingMessage, Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Failure } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { ConnectionGate, closeHttpServer, listenOnLoopback } from '../../os/index.ts';
import { createApp } from './app.ts';
import { answerCallback, callbackFor } from './callbacks.ts';
import { SECURITY_HEADERS, sendFailure } from './http-failure.ts';
import { boundedServer, listenFailure, startFailure } from './http-server.ts';
import { type RequestGuard, requestGuard } from './request-guard.ts';
import { Streams } from './streams.ts';
import { type Api, type ApiLimits, type ApiOptions, LIMITS } from './types.ts';

const TOKEN = /^[\w.~-]{32,512}$/;
const WARNING_LENGTH_MAX = 500;

export async function openApi(options: ApiOptions): Promise<Api | Failure> {
  const { host = '127.0.0.1', port = 0, token } = options;
  if (!TOKEN.test(token)) {
    return startFailure('The token must have 32 to 512 letters, digits, `-`, `.`, `_` or `~`.');
  }
  const limits = { ...LIMITS, ...options.limits };
  const gate = new ConnectionGate(limits);
  const server = boundedServer(limits, gate);
  const listening = await listenOnLoopback(server, { host, port });
  if (listening.kind === 'failed') return listenFailure({ host, port }, listening.why);
  return serve(server, { ...options, limits, gate, url: listening.url });
}

interface ServeOptions extends Omit<ApiOptions, 'limits'> {
  readonly limits: ApiLimits;
  readonly gate: ConnectionGate;
  readonly url: string;
}

/** Everything is attached in the turn in which the server began to listen: no request is missed. */
function serve(server: Server, options: ServeOptions): Api {
  const { reader, feed, limits, gate, token, origins = [], onWarning } = options;
  const { callbacks = new Map() } = options;
  const check = requestGuard({ token, origins, server });
  // A connection that has shown the token counts as known.
  const guard: RequestGuard = (request) => {
    const failure = check(request);
    if (failure?.status !== 401 && failure?.status !== 403) gate.admit(request.socket);
    return failure;
  };
  const onStreamWarning = (cause: unknown) =>
    onWarning?.(`A stream has ended: ${visible(String(cause), WARNING_LENGTH_MAX)}`);
  const streams = new Streams({ reader, feed, limits, onWarning: onStreamWarning });
  const app = createApp({ ...options, streams: () => streams.count });
  // It would put its own Request and Response in place of the process's.
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  // After it listens, nothing that happens to it may end the process.
  server.on('error', () => undefined);
  server.on('request', (request, response) => {
    const callback = callbackFor(callbacks, request);
    if (callback !== undefined) return void answerCallback(callback, request, response);
    const failure = guard(request);
    if (request.socket.destroyed) return;
    if (failure !== undefined) return sendFailure(response, failure);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    void answer(request, response);
  });
  server.on('upgrade', (request: IncomingMessage, socket, head) =>
    streams.take(guard, { request, socket, head }),
  );
  let closing: Promise<void> | undefined;
  const close = async () => {
    streams.close();
    await closeHttpServer(server, limits.closeMs, () => streams.terminate());
    streams.terminate();
  };
  return { url: options.url, close: () => (closing ??= close()) };
}
