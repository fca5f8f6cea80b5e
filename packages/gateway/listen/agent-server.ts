// The loopback address that agents of this machine speak to.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type LoopbackGuardOptions, listenOnLoopback, loopbackGuard } from '@subluminal/plane/os';
import {
  boundServer,
  type CloseServer,
  type RequestHandler,
  SERVER_OPTIONS,
} from './bound-server.ts';

export interface AgentServerOptions extends Pick<LoopbackGuardOptions, 'token' | 'credential'> {
  readonly port: number;
  /** Why this client gets no answer, though it has passed the checks of any loopback address. */
  readonly refusal?: (request: IncomingMessage) => string | undefined;
  readonly handle: RequestHandler;
}

export interface AgentServer {
  readonly kind: 'listening';
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly close: CloseServer;
}

const LIMITS = { connectionsMax: 512, waitingMax: 128 };
const REFUSALS = {
  host: 'The Host is not this address.',
  origin: 'This address does not speak to web pages.',
  token: 'The token of the run is missing or wrong.',
};

/** `why` is a code of the system, or a sentence. */
export async function openAgentServer(
  options: AgentServerOptions,
): Promise<AgentServer | { readonly kind: 'failed'; readonly why: string }> {
  const { port, refusal, handle, ...credentials } = options;
  const server = createServer(SERVER_OPTIONS);
  const guard = loopbackGuard({ ...credentials, server });
  const isRefused = (request: IncomingMessage, response: ServerResponse) => {
    const check = guard(request);
    const why = check === undefined ? refusal?.(request) : REFUSALS[check];
    if (why !== undefined) sendError(response, check === 'token' ? 401 : 403, why);
    return why !== undefined;
  };
  const close = boundServer(server, { limits: LIMITS, isRefused, handle });
  const listening = await listenOnLoopback(server, { port });
  if (listening.kind === 'failed') return listening;
  return { kind: 'listening', url: listening.url, close };
}

/** Nothing unknown goes on to a model. */
export function sendUnknownPath({ method = '' }: IncomingMessage, response: ServerResponse): void {
  const what = 'of this path is not known here, and nothing unknown goes on to a model.';
  sendError(response, 404, `${method} ${what}`);
}

/** All wires read `error.message`. */
export function sendError(response: ServerResponse, status: number, message: string): void {
  const text = JSON.stringify({
    type: 'error',
    error: {
      type: status === 404 ? 'not_found_error' : 'permission_error',
      message: `Subluminal: ${message}`,
    },
  });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, { ...headers, connection: 'close' }).end(text);
}
