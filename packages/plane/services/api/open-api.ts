// Opens the API on a port of this machine alone, and closes it.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Failure } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { ConnectionGate, closeHttpServer, listenOnLoopback, thisSystem } from '../../os/index.ts';
import { createApp } from './app.ts';
import { answerCallback, callbackFor } from './callbacks.ts';
import { isHttpFailure, SECURITY_HEADERS, sendFailure } from './http-failure.ts';
import { boundedServer, listenFailure, startFailure } from './http-server.ts';
import { PageAccess } from './page-access.ts';
import { pagesIn } from './pages.ts';
import { type PersonGuard, personGuard } from './person-guard.ts';
import { type ApiCaller, pageGuard, type RequestGuard, requestGuard } from './request-guard.ts';
import { Streams } from './streams.ts';
import { type Api, type ApiLimits, type ApiOptions, LIMITS } from './types.ts';

const TOKEN = /^[\w.~-]{32,512}$/;
/** Everything else is the page's. */
const API_PATH = /^\/api(?:[/?]|$)|^[^/]/;
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
  const { reader, feed, limits, nowMs, onWarning } = options;
  const { callbacks = new Map() } = options;
  const mayDecide = personGuard(options);
  const access = pageAccess({ ...options, mayDecide });
  const callers = new WeakMap<IncomingMessage, ApiCaller>();
  const guard = admittingGuard(server, { ...options, access, mayDecide, callers });
  const onStreamWarning = (cause: unknown) =>
    onWarning?.(`A stream has ended: ${visible(String(cause), WARNING_LENGTH_MAX)}`);
  const streams = new Streams({ reader, feed, limits, nowMs, onWarning: onStreamWarning });
  const callerOf = (request: IncomingMessage) => callers.get(request);
  const app = createApp({ ...options, access, callerOf, streams: () => streams.count });
  // It would put its own Request and Response in place of the process's.
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const answerPage = pageListener(server, options);
  // After it listens, nothing that happens to it may end the process.
  server.on('error', () => undefined);
  server.on('request', (request, response) => {
    const callback = callbackFor(callbacks, request);
    if (callback !== undefined) return void answerCallback(callback, request, response);
    if (answerPage !== undefined && !API_PATH.test(request.url ?? '')) {
      return void answerPage(request, response);
    }
    const caller = guard(request);
    if (request.socket.destroyed) return;
    if (isHttpFailure(caller)) return sendFailure(response, caller);
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

function pageAccess(options: ServeOptions & { readonly mayDecide: PersonGuard }) {
  const { pages, url, user, nowMs, mayDecide, system = thisSystem() } = options;
  if (pages === undefined) return undefined;
  const port = Number(new URL(url).port);
  return new PageAccess({ secret: pages.secret, port, user, nowMs, system, mayDecide });
}

/** A connection that has shown who it is counts as known. */
function admittingGuard(
  server: Server,
  options: ServeOptions & {
    readonly access: PageAccess | undefined;
    readonly mayDecide: PersonGuard;
    readonly callers: WeakMap<IncomingMessage, ApiCaller>;
  },
): RequestGuard {
  const { token, origins = [], access, mayDecide, gate, callers } = options;
  const check = requestGuard({ token, origins, server, access, mayDecide });
  return (request) => {
    const caller = check(request);
    if (caller === undefined) return undefined;
    if (!isHttpFailure(caller)) callers.set(request, caller);
    const isKnown = !isHttpFailure(caller) || (caller.status !== 401 && caller.status !== 403);
    if (isKnown) gate.admit(request.socket);
    return caller;
  };
}

/** The files of the page need no session, only the right Host. */
function pageListener(server: Server, { pages, origins = [] }: ServeOptions) {
  if (pages === undefined) return undefined;
  const check = pageGuard({ server, origins });
  const files = pagesIn(pages.folder);
  return (request: IncomingMessage, response: ServerResponse) => {
    const failure = check(request);
    return failure === undefined ? files.answer(request, response) : sendFailure(response, failure);
  };
}
