// Opens the API on a port of this machine alone, and closes it.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { errorEntry } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { appOf } from './app.ts';
import { type Guard, guardOf } from './guard.ts';
import { LIMITS } from './limits.ts';
import { type Problem, rawProblem, SECURITY_HEADERS, sendProblem } from './problem.ts';
import { Streams } from './stream/streams.ts';
import type { Api, ApiLimits, ApiOptions, OpenApiResult } from './types.ts';

/** What it may be bound to; a name is not looked up. */
const ADDRESSES: { readonly [host: string]: string } = {
  '127.0.0.1': '127.0.0.1',
  localhost: '127.0.0.1',
  '::1': '::1',
};
const TOKEN = /^[\w.~-]{32,512}$/;
const PORT_MAX = 65_535;
const HEADERS_MAX = 100;
const WARNING_LENGTH_MAX = 500;

async function openApi(options: ApiOptions): Promise<OpenApiResult> {
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
  const server = serverOf(limits);
  const heard = await listening(server, { host: address, port });
  if (typeof heard === 'string') return failed(heard);
  return { ok: true, api: run(server, { ...options, limits, address: heard }) };
}

function failed(detail: string): OpenApiResult {
  const { code, title, fix } = errorEntry('SUB_API_START');
  return { ok: false, code, message: `${title} ${detail}`, fix };
}

function serverOf(limits: ApiLimits): Server {
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.requestMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.ceil(limits.requestMs / 4),
    keepAliveTimeout: limits.keepAliveMs,
    // The guard says it in our words.
    requireHostHeader: false,
  });
  server.maxHeadersCount = HEADERS_MAX;
  server.maxConnections = limits.connectionsMax;
  server.timeout = limits.stallMs;
  return server;
}

/** The address, or why there is none. */
function listening(
  server: Server,
  at: { readonly host: string; readonly port: number },
): Promise<AddressInfo | string> {
  return new Promise((resolve) => {
    server.once('error', (cause) => resolve(visible(cause.message, WARNING_LENGTH_MAX)));
    server.listen(at, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address : 'It has no address.');
    });
  });
}

interface Running extends Omit<ApiOptions, 'limits'> {
  readonly limits: ApiLimits;
  readonly address: AddressInfo;
}

/** Everything is attached in the turn in which the server began to listen: no request is missed. */
function run(server: Server, options: Running): Api {
  const { reader, feed, limits, token, origins = [], onWarning, address } = options;
  const guard = guardOf({ token, origins, port: address.port });
  const onStreamWarning = (cause: unknown) =>
    onWarning?.(`A stream has ended: ${visible(String(cause), WARNING_LENGTH_MAX)}`);
  const streams = new Streams({ reader, feed, limits, onWarning: onStreamWarning });
  const app = appOf({ ...options, streams: () => streams.count });
  // It would put its own Request and Response in place of the process's.
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  server.on('request', (request, response) => {
    const problem = guard(request);
    if (problem !== undefined) return sendProblem(response, problem);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    void answer(request, response);
  });
  listen(server, guard, streams);
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closed(server, streams, limits.closeMs));
  return { url: `http://${name}:${address.port}`, close };
}

function listen(server: Server, guard: Guard, streams: Streams): void {
  server.on('upgrade', (request: IncomingMessage, socket, head) =>
    streams.take(guard, { request, socket, head }),
  );
  server.on('clientError', (cause: NodeJS.ErrnoException, socket: Socket) => {
    // Never in the middle of another answer.
    const isFresh = socket.writable && socket.bytesWritten === 0;
    if (isFresh) socket.end(rawProblem(unreadable(cause.code)), () => socket.destroy());
    else socket.destroy();
  });
  // After it listens, nothing that happens to it may end the process.
  server.on('error', () => undefined);
}

/** What could not even be read as a request. */
function unreadable(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return {
      status: 431,
      code: 'SUB_API_LIMIT',
      detail: 'The address or the headers are too long.',
    };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: 408, code: 'SUB_API_LIMIT', detail: 'The request took too long.' };
  }
  return { status: 400, code: 'SUB_API_REQUEST', detail: 'It is not HTTP.' };
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

export { openApi };
