// The loopback address that the agent of one run speaks to. Only who knows the token of the run gets in: it
// stands in the path, or in a header where the address would be seen in a list of processes.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Failure, failure } from '@subluminal/contracts';
import type { WireName } from '@subluminal/core/wires';
import { openAgentServer, sendUnknownPath } from '../listen/agent-server.ts';
import { askedFor, routeOf, TOKEN_HEADER } from './upstreams.ts';

export interface TurnRoute {
  readonly wire: WireName;
  readonly kind: 'answer' | 'count_tokens';
  /** Behind the token, with its query; the first segment is the route. */
  readonly path: string;
}

export interface LocalServerOptions {
  readonly turn: (request: IncomingMessage, response: ServerResponse, route: TurnRoute) => void;
  /** Reads that hold nothing of the conversation, such as a list of models. */
  readonly pass: (request: IncomingMessage, response: ServerResponse, path: string) => void;
}

export interface LocalServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly token: string;
  close(): Promise<void>;
}

const TOKEN_BYTES = 32;
const CLOSE_MS = 500;

export async function openLocalServer(options: LocalServerOptions): Promise<LocalServer | Failure> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const server = await openAgentServer({
    port: 0,
    token,
    credential: tokenIn,
    handle: (request, response) => serve(request, response, options),
  });
  if (server.kind === 'failed') {
    const message = `No port of 127.0.0.1 could be opened for the model calls of the run: ${server.why}.`;
    return failure('SUB_MODELS_LISTEN', message, 'Free a port, or run without --models.');
  }
  return { url: server.url, token, close: () => server.close(CLOSE_MS) };
}

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { turn, pass }: LocalServerOptions,
): void {
  const path = pathOf(request);
  const asked = routeOf(path) === undefined ? undefined : askedFor(request.method ?? '', path);
  if (asked === undefined) return sendUnknownPath(request, response);
  if (asked.kind === 'pass') return pass(request, response, path);
  turn(request, response, { wire: asked.wire, kind: asked.kind, path });
}

const TOKEN_PATH = /^\/t\/([A-Za-z0-9_-]{1,128})(?=[/?]|$)/;

function tokenIn({ url = '', headers }: IncomingMessage): string | undefined {
  const given = headers[TOKEN_HEADER];
  return TOKEN_PATH.exec(url)?.[1] ?? (typeof given === 'string' ? given : undefined);
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(TOKEN_PATH, '');
}
