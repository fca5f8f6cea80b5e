// Where a hub listens, and whose requests it answers: a private Unix socket, or a port of this
// machine with a token.
import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import { visible } from '@subluminal/core/visible';
import {
  isFromPage,
  isStrongToken,
  listenOnLoopback,
  listenOnUnixSocket,
  loopbackGuard,
} from '../../os/index.ts';
import type { HubListen, HubOpened } from './types.ts';

type HubListening =
  | { readonly kind: 'listening'; readonly endpoint: string }
  | Extract<HubOpened, { readonly kind: 'failed' }>;

const LOOPBACK = '127.0.0.1';
const MESSAGE_LENGTH_MAX = 300;

export async function listenAt(server: Server, listen: HubListen): Promise<HubListening> {
  return listen.kind === 'unix' ? listenUnix(server, listen.path) : listenTcp(server, listen);
}

async function listenTcp(
  server: Server,
  { token, port = 0 }: Extract<HubListen, { readonly kind: 'tcp' }>,
): Promise<HubListening> {
  if (!isStrongToken(token)) {
    return failed('The token of the hub must have 32 to 512 visible ASCII characters.');
  }
  const listening = await listenOnLoopback(server, { host: LOOPBACK, port });
  if (listening.kind === 'listening') return { kind: 'listening', endpoint: listening.url };
  const { why } = listening;
  return failed(`Port ${port} on ${LOOPBACK}${why === 'EADDRINUSE' ? ' is in use' : `: ${why}`}.`);
}

async function listenUnix(server: Server, path: string): Promise<HubListening> {
  const listening = await listenOnUnixSocket(server, path, { isFolderPrivate: true });
  if (listening.kind === 'listening') return { kind: 'listening', endpoint: `unix:${path}` };
  if (listening.kind === 'taken' || listening.why === 'EADDRINUSE') {
    return failed(`The socket ${path} is in use.`);
  }
  const { why } = listening;
  return failed(why.includes(' ') ? why : `The socket ${path}: ${why}.`);
}

function failed(message: string): Extract<HubOpened, { readonly kind: 'failed' }> {
  return { kind: 'failed', code: 'SUB_HUB_LISTEN', message: visible(message, MESSAGE_LENGTH_MAX) };
}

interface RequestRefusal {
  readonly status: 401 | 403;
  readonly message: string;
}

/** Why a request is refused; undefined when it may be answered. */
export type HubGuard = (request: IncomingMessage) => RequestRefusal | undefined;

const REFUSALS = {
  host: { status: 403, message: 'the Host is not this hub' },
  origin: { status: 403, message: 'a hub does not speak to web pages' },
  token: { status: 401, message: 'the token is missing or wrong' },
} as const;

/** On a Unix socket the file system admits; only pages of a browser are kept out. */
export function hubGuard(server: Server, listen: HubListen): HubGuard {
  if (listen.kind === 'unix') {
    return (request) => (isFromPage(request) ? REFUSALS.origin : undefined);
  }
  const guard = loopbackGuard({ token: listen.token, port: () => portOf(server) });
  return (request) => {
    const check = guard(request);
    return check && REFUSALS[check];
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
