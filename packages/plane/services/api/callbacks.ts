// Answers that services send by themselves: signed messages, without our token. They may come by
// the API of this machine, or by an address of their own that others can reach.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Failure, isFailure } from '@subluminal/contracts';
import { ConnectionGate, closeHttpServer } from '../../os/index.ts';
import {
  badRequest,
  bodyTooLarge,
  errorBody,
  type HttpFailure,
  httpFailure,
  isHttpFailure,
  NOT_FOUND,
  sendFailure,
  sendJson,
} from './http-failure.ts';
import { boundedServer, listenAnywhere } from './http-server.ts';
import { readBytes } from './read-request.ts';
import { type Api, type ApiLimits, type Callback, type Callbacks, LIMITS } from './types.ts';

/** The one that a request is for, by its path alone. */
export function callbackFor(
  callbacks: Callbacks,
  { url = '' }: IncomingMessage,
): Callback | undefined {
  const [path = ''] = url.split('?', 1);
  return callbacks.get(path);
}

/** Answers one such request. Its signature shows who sent it. */
export async function answerCallback(
  callback: Callback,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refused = requestFailure(request, callback);
  if (refused !== undefined) return sendFailure(response, refused);
  const rawBody = await readBytes(request, callback.bytesMax);
  if (isHttpFailure(rawBody)) return sendJson(response, rawBody.status, errorBody(rawBody));
  try {
    const { status, body } = await callback.answer({ headers: headersOf(request), rawBody });
    sendJson(response, status, JSON.stringify(body));
  } catch {
    sendJson(response, 500, errorBody(httpFailure(500, 'SUB_INTERNAL')));
  }
}

function requestFailure(
  { method, headers, url = '' }: IncomingMessage,
  { bytesMax }: Callback,
): HttpFailure | undefined {
  if (method !== 'POST') {
    const failure = httpFailure(405, 'SUB_API_REQUEST', 'This address takes POST only.');
    return { ...failure, headers: { allow: 'POST' } };
  }
  if (url.includes('?')) return badRequest('This address takes no parameters.');
  // A service has no origin; a page that reaches for this does.
  if (headers.origin !== undefined) {
    return httpFailure(403, 'SUB_API_HOST', 'See the header Origin.');
  }
  if (headers['content-encoding'] !== undefined) {
    return httpFailure(415, 'SUB_API_REQUEST', 'The body must come without an encoding.');
  }
  return Number(headers['content-length'] ?? 0) <= bytesMax ? undefined : bodyTooLarge(bytesMax);
}

/** A header that stands there twice is given as a list, and counts as none. */
function headersOf({ headersDistinct }: IncomingMessage) {
  return Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]),
  );
}

interface CallbacksOptions {
  readonly callbacks: Callbacks;
  readonly host: string;
  readonly port: number;
  /** Tests make them smaller. */
  readonly limits?: Partial<ApiLimits>;
}

/** Opens an address that serves callbacks and nothing else. */
export async function openCallbacks(options: CallbacksOptions): Promise<Api | Failure> {
  const { callbacks, host, port } = options;
  const limits = { ...LIMITS, ...options.limits };
  const server = boundedServer(limits, new ConnectionGate(limits));
  const url = await listenAnywhere(server, { host, port });
  if (isFailure(url)) return url;
  server.on('request', (request, response) => {
    const callback = callbackFor(callbacks, request);
    if (callback !== undefined) return void answerCallback(callback, request, response);
    sendFailure(response, NOT_FOUND);
  });
  // An upgrade that nobody takes would stay open.
  server.on('upgrade', (_request, socket) => socket.destroy());
  return { url, close: () => closeHttpServer(server, limits.closeMs) };
}
