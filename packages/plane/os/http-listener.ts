// An HTTP server for this machine alone: a loopback address, the right Host, no pages of other
// sites, and a token.
import { once } from 'node:events';
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import { secretMatcher } from './secret-matcher.ts';
import { systemCode } from './system-error.ts';

export type Listening =
  | { readonly kind: 'listening'; readonly url: string }
  /** `why` is a code of the system such as `EADDRINUSE`, or a sentence. */
  | { readonly kind: 'failed'; readonly why: string };

/** What it may be bound to; a name is not looked up. */
const ADDRESSES: { readonly [host: string]: string } = {
  '127.0.0.1': '127.0.0.1',
  localhost: '127.0.0.1',
  '::1': '::1',
};
const PORT_MAX = 65_535;
/** Visible ASCII only, so that it is one header value; long enough not to be guessed. */
const TOKEN = /^[\x21-\x7e]{32,512}$/;
/** A longer credential is no token of ours. */
const CREDENTIAL_LENGTH_MAX = 1_024;
const BEARER = /^Bearer +([^\s]+)$/i;

/** Listens on a loopback address; every other address is refused. */
export async function listenOnLoopback(
  server: Server,
  { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number },
): Promise<Listening> {
  const address = Object.hasOwn(ADDRESSES, host) ? ADDRESSES[host] : undefined;
  if (address === undefined) return failed(`Others could reach it on ${host}.`);
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) {
    return failed(`A port is a number from 0 to ${PORT_MAX}.`);
  }
  return listenOnAddress(server, { host: address, port });
}

/** Listens where others may reach it, too. */
export async function listenOnAddress(
  server: Server,
  at: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const listening = once(server, 'listening');
  try {
    server.listen({ ...at, exclusive: true });
    await listening;
  } catch (cause) {
    return failed(systemCode(cause));
  }
  const bound = server.address();
  if (bound === null || typeof bound === 'string') return failed('It has no address.');
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return { kind: 'listening', url: `http://${name}:${bound.port}` };
}

function failed(why: string): Listening {
  return { kind: 'failed', why };
}

export function isStrongToken(token: string): boolean {
  return TOKEN.test(token);
}

export interface LoopbackGuardOptions {
  /** Without one, any program of this machine may ask. */
  readonly token?: string;
  /** Its port is part of the right Host. */
  readonly server: Server;
  /** Other origins whose pages may ask. Without it, no page of a browser may, not even our own. */
  readonly origins?: readonly string[];
  /** Finds the token; in the Authorization header unless given. */
  readonly credential?: (request: IncomingMessage) => string | undefined;
}

/** Which check a request fails; undefined when it may be answered. */
export type LoopbackGuard = (request: IncomingMessage) => 'host' | 'origin' | 'token' | undefined;

export function loopbackGuard(options: LoopbackGuardOptions): LoopbackGuard {
  const { token, server, origins, credential = bearerToken } = options;
  const isToken = token === undefined ? undefined : secretMatcher(token);
  let hosts: ReadonlySet<string> | undefined;
  return (request) => {
    hosts ??= loopbackHosts(portOf(server));
    // A page whose name was made to point to this machine sends its own name here.
    const host = singleHeader(request, 'host')?.toLowerCase();
    if (host === undefined || !hosts.has(host)) return 'host';
    const isForeign =
      origins === undefined
        ? isFromPage(request)
        : !isOwnOrigin(request, [`http://${host}`, ...origins]);
    if (isForeign) return 'origin';
    if (isToken === undefined) return undefined;
    const given = credential(request);
    if (given === undefined || given.length > CREDENTIAL_LENGTH_MAX) return 'token';
    return isToken(given) ? undefined : 'token';
  };
}

/** Whether a browser has sent it for a page. */
export function isFromPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
}

function isOwnOrigin(request: IncomingMessage, origins: readonly string[]): boolean {
  if (request.headers.origin === undefined) return true;
  const origin = singleHeader(request, 'origin');
  return origin !== undefined && origins.includes(origin);
}

/** Known only after the server listens. */
function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Names that the owner of a domain cannot make point elsewhere. */
function loopbackHosts(port: number): ReadonlySet<string> {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const withPort = names.map((name) => `${name}:${port}`);
  return new Set(port === 80 ? [...withPort, ...names] : withPort);
}

export function bearerToken(request: IncomingMessage): string | undefined {
  return BEARER.exec(singleHeader(request, 'authorization') ?? '')?.[1];
}

/** The one value of a header; undefined when it is missing or stands there twice. */
function singleHeader({ headersDistinct }: IncomingMessage, name: string): string | undefined {
  const values = headersDistinct[name] ?? [];
  return values.length === 1 ? values[0] : undefined;
}

const UPGRADE_REFUSAL =
  'HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/** Answers whoever wants a WebSocket with a no. */
export function refuseUpgrades(server: HttpServer): void {
  server.on('upgrade', (_request, socket) => {
    // Node no longer listens to this socket: a client that resets it would end the process.
    socket.on('error', () => {});
    socket.end(UPGRADE_REFUSAL, () => socket.destroy());
  });
}

const IDLE_EVERY_MS = 50;

/** Ends idle connections, waits for the others, and cuts them off after `graceMs`. */
export async function closeHttpServer(
  server: HttpServer,
  graceMs: number,
  onCut: () => void = () => {},
): Promise<void> {
  const overdue = setTimeout(() => {
    onCut();
    server.closeAllConnections();
  }, graceMs);
  // A connection whose last answer has just gone out is idle, too.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_EVERY_MS);
  await new Promise((resolve) => {
    server.close(resolve);
  });
  clearTimeout(overdue);
  clearInterval(idle);
}
