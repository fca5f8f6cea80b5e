// A hub on its socket: a private Unix socket, or a port of this machine with a token.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import {
  ConnectionGate,
  closeHttpServer,
  isFromPage,
  isStrongToken,
  listenOnLoopback,
  listenOnUnixSocket,
  loopbackGuard,
} from '../../os/index.ts';
import { hubBodyBytesMax } from './client/connection.ts';
import { Hub } from './hub.ts';
import { type HubOptions, type HubRefusal, refused } from './hub-options.ts';
import { HubServing, refusalText } from './serve.ts';

export type HubListen =
  /** The folder must be private (0700) already; the socket becomes 0600. */
  | { readonly kind: 'unix'; readonly path: string }
  /** On 127.0.0.1 only; a free port unless one is given. */
  | { readonly kind: 'tcp'; readonly token: string; readonly port?: number };

const LIMITS = {
  bodiesBytesMax: 64 * 1024 * 1024,
  requestsMax: 256,
  connectionsMax: 1_024,
  /** Connections that have not asked anything yet; beyond it the oldest silent ones are dropped. */
  waitingMax: 256,
  /** How long a client may take to send its headers, and the whole of a request. */
  headersMs: 2_000,
  requestMs: 5_000,
  idleMs: 60_000,
  framesMax: 64,
  unreadBytesMax: 16 * 1024 * 1024,
  /** How long `close` waits for requests in flight. */
  closeMs: 500,
};

type ServerLimits = { readonly [K in keyof typeof LIMITS | 'bodyBytesMax']: number };

export interface OpenHubOptions extends HubOptions {
  readonly listen: HubListen;
  /** The largest call that shims inspect, and so ask for. */
  readonly inspectBytesMax?: number;
  readonly serverLimits?: Partial<ServerLimits>;
}

export type RunningHub = Hub & {
  /** What a shim is given: `unix:/path` or `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  /** Stops listening and ends every connection; nothing is left behind. */
  close(): Promise<void>;
};

const HEADER_BYTES_MAX = 8_192;
const HEADERS_MAX = 64;
const LOOPBACK = '127.0.0.1';
const MESSAGE_LENGTH_MAX = 300;

/** Opens the hub of a run, or says why its port or path cannot be used. */
export async function openHub(options: OpenHubOptions): Promise<RunningHub | Failure> {
  const { listen } = options;
  const limits = limitsOf(options);
  const hub = new Hub(options);
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    noDelay: true,
  });
  server.maxHeadersCount = HEADERS_MAX;
  const gate = new ConnectionGate(limits);
  server.maxConnections = gate.acceptedMax;
  server.on('connection', (socket) => gate.add(socket));
  const serving = new HubServing({ hub, guard: hubGuard(server, listen), limits, gate });
  server.on('request', (request, response) => serving.handle(request, response));
  server.on('upgrade', (request, socket, head) => serving.upgrade(request, socket, head));
  server.on('clientError', (error, socket) => refuseClient(serving, error, socket));
  const endpoint = await (listen.kind === 'unix'
    ? listenUnix(server, listen.path)
    : listenTcp(server, listen));
  if (isFailure(endpoint)) return endpoint;
  // A connection that could not be taken is the client's problem; the hub goes on.
  server.on('error', () => {});
  const close = (): Promise<void> => {
    hub.stopTaking();
    serving.stop();
    return closeHttpServer(server, limits.closeMs, () => serving.cut());
  };
  return Object.assign(hub, { endpoint, close });
}

/** One body must always have room among all. */
function limitsOf({ inspectBytesMax, serverLimits }: OpenHubOptions): ServerLimits {
  const bodyBytesMax = hubBodyBytesMax(inspectBytesMax);
  const bodiesBytesMax = Math.max(LIMITS.bodiesBytesMax, bodyBytesMax);
  return { ...LIMITS, bodyBytesMax, bodiesBytesMax, ...serverLimits };
}

async function listenTcp(
  server: Server,
  { token, port = 0 }: Extract<HubListen, { readonly kind: 'tcp' }>,
): Promise<string | Failure> {
  const fix = 'Choose another port, or none.';
  if (!isStrongToken(token)) {
    return failed('The token of the hub must have 32 to 512 visible ASCII characters.', fix);
  }
  const listening = await listenOnLoopback(server, { host: LOOPBACK, port });
  if (listening.kind === 'listening') return listening.url;
  const why = listening.why === 'EADDRINUSE' ? ' is in use' : `: ${listening.why}`;
  return failed(`Port ${port} on ${LOOPBACK}${why}.`, fix);
}

async function listenUnix(server: Server, path: string): Promise<string | Failure> {
  const fix = 'Check SUB_HOME and its permissions.';
  const listening = await listenOnUnixSocket(server, path, { isFolderPrivate: true });
  if (listening.kind === 'listening') return `unix:${path}`;
  if (listening.kind === 'taken' || listening.why === 'EADDRINUSE') {
    return failed(`The socket ${path} is in use.`, fix);
  }
  const { why } = listening;
  return failed(why.includes(' ') ? why : `The socket ${path}: ${why}.`, fix);
}

function failed(message: string, fix: string): Failure {
  return failure('SUB_HUB_LISTEN', visible(message, MESSAGE_LENGTH_MAX), fix);
}

const REFUSALS = {
  host: refused(403, 'the Host is not this hub'),
  origin: refused(403, 'a hub does not speak to web pages'),
  token: refused(401, 'the token is missing or wrong'),
};

/** On a Unix socket the file system admits; only pages of a browser are kept out. */
function hubGuard(
  server: Server,
  listen: HubListen,
): (request: IncomingMessage) => HubRefusal | undefined {
  if (listen.kind === 'unix') {
    return (request) => (isFromPage(request) ? REFUSALS.origin : undefined);
  }
  const guard = loopbackGuard({ token: listen.token, server });
  return (request) => {
    const check = guard(request);
    return check && REFUSALS[check];
  };
}

/** A request that is no HTTP, too slow or too long gets a short answer, and its connection ends. */
function refuseClient({ metrics }: HubServing, error: Error, socket: Duplex): void {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const isOverflow = code === 'HPE_HEADER_OVERFLOW';
  const isTimeout = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const status = isOverflow ? 431 : isTimeout ? 408 : 400;
  metrics.refused(status);
  const text = refusalText(refused(status, 'the request is malformed or incomplete'));
  // Without waiting for the other side: it may never end.
  socket.end(text, () => socket.destroy());
}
