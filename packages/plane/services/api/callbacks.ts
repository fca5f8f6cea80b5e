// Answers that services send by themselves: signed messages, without our token. They may come by
// the API of this machine, or by an address of their own that others can reach.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { ConnectionGate } from '../../os/index.ts';
import {
  bodyOf,
  failed,
  JSON_TYPE,
  listening,
  type Problem,
  SECURITY_HEADERS,
  sendProblem,
  serverOf,
  unreadableEnds,
  urlOf,
} from './http-server.ts';
import { readBytes } from './read-request.ts';
import {
  type ApiLimits,
  type Callback,
  type Callbacks,
  LIMITS,
  type OpenApiResult,
} from './types.ts';

/** The one that a request is for. Nothing but the path says so. */
export function callbackFor(
  callbacks: Callbacks,
  { url = '' }: IncomingMessage,
): Callback | undefined {
  const [path = ''] = url.split('?', 1);
  return callbacks.get(path);
}

/** Answers one such request. Who sent it is for the signature to say. */
export async function answerCallback(
  callback: Callback,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const problem = refusalOf(request, callback);
  if (problem !== undefined) return sendProblem(response, problem);
  const rawBody = await readBytes(request, callback.bytesMax);
  if (!Buffer.isBuffer(rawBody)) return send(response, rawBody.status, bodyOf(rawBody));
  try {
    const { status, body } = await callback.answer({ headers: headersOf(request), rawBody });
    send(response, status, JSON.stringify(body));
  } catch {
    const failure: Problem = { status: 500, code: 'SUB_INTERNAL' };
    send(response, failure.status, bodyOf(failure));
  }
}

function refusalOf({ method, headers, url = '' }: IncomingMessage, { bytesMax }: Callback) {
  const problem = (status: Problem['status'], detail: string): Problem => ({
    status,
    code: 'SUB_API_REQUEST',
    detail,
  });
  if (method !== 'POST') {
    return { ...problem(405, 'This address takes POST only.'), headers: { allow: 'POST' } };
  }
  if (url.includes('?')) return problem(400, 'This address takes no parameters.');
  // A service has no origin; a page that reaches for this does.
  if (headers.origin !== undefined) {
    return { status: 403, code: 'SUB_API_HOST', detail: 'See the header Origin.' } as const;
  }
  if (headers['content-encoding'] !== undefined) {
    return problem(415, 'The body must come without an encoding.');
  }
  if (Number(headers['content-length'] ?? 0) <= bytesMax) return undefined;
  const detail = `The body has more than ${bytesMax} bytes.`;
  return { status: 413, code: 'SUB_API_LIMIT', detail } as const;
}

/** A header that stands there twice says two things: it is given as a list, and counts as none. */
function headersOf({ headersDistinct }: IncomingMessage) {
  return Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]),
  );
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

interface CallbacksOptions {
  readonly callbacks: Callbacks;
  readonly host: string;
  readonly port: number;
  /** Tests make them smaller. */
  readonly limits?: Partial<ApiLimits>;
}

/** Opens an address for such answers alone; there is nothing else to be had by it. */
export async function openCallbacks(options: CallbacksOptions): Promise<OpenApiResult> {
  const { callbacks, host, port } = options;
  const limits = { ...LIMITS, ...options.limits };
  const server = serverOf(limits, new ConnectionGate(limits));
  const heard = await listening(server, { host, port });
  if (typeof heard === 'string') return failed(heard);
  server.on('request', (request, response) => {
    const callback = callbackFor(callbacks, request);
    if (callback !== undefined) return void answerCallback(callback, request, response);
    sendProblem(response, { status: 404, code: 'SUB_API_NOT_FOUND' });
  });
  // An upgrade that nobody takes would stay open.
  server.on('upgrade', (_request, socket) => socket.destroy());
  unreadableEnds(server);
  return { ok: true, api: { url: urlOf(heard), close: () => closed(server, limits.closeMs) } };
}

async function closed(server: Server, graceMs: number): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeIdleConnections();
  });
  clearTimeout(timer);
}
