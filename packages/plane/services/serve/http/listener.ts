// The listener of `sub serve`: who may come in, and where each request goes.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import { type Failure, failure } from '@subluminal/contracts';
import {
  ConnectionGate,
  closeHttpServer,
  errorText,
  listenOnAddress,
  refuseUpgrades,
} from '../../../os/index.ts';
import { METADATA_HEADERS, METADATA_PREFLIGHT } from '../auth/index.ts';
import type { Authenticated, Authenticator, Principal } from '../auth/types.ts';
import type { ServeConfig } from '../config/serve-config.ts';
import { DEFECT, RPC, refuse, sendJson } from './answers.ts';
import { answerPage } from './cross-origin.ts';
import type { Caller, McpEndpoint } from './endpoint.ts';
import { type HostRules, hostRules, refusedBy } from './host-guard.ts';

export interface ListenerOptions {
  readonly config: () => ServeConfig;
  readonly authenticator: () => Authenticator;
  readonly endpoint: McpEndpoint;
  readonly readiness: () => Readiness;
  readonly onDefect: (cause: unknown) => void;
}

export interface Readiness {
  /** `not_ready`: none of its servers can be used. */
  readonly status: 'ready' | 'draining' | 'not_ready';
  readonly serversNotReady: number;
}

export interface ServeListener {
  readonly kind: 'listening';
  readonly url: string;
  /** Another configuration: other hosts and another certificate. */
  renew(): Failure | undefined;
  /** Takes no new connection. */
  close(graceMs: number): Promise<void>;
}

const SERVER_OPTIONS = {
  maxHeaderSize: 32_768,
  headersTimeout: 10_000,
  // How often it looks for those that are late.
  connectionsCheckingInterval: 5_000,
  requestTimeout: 120_000,
  keepAliveTimeout: 65_000,
  noDelay: true,
} as const;
const HEADERS_MAX = 128;
const WAITING_MAX = 512;
const PATH = /^\/mcp\/([A-Za-z0-9._-]{1,128})$/;
const WELL_KNOWN = '/.well-known/';
const RUN_NAME = /^[\x21-\x7e]{1,128}$/;

/** A certificate and its key, or why they cannot be used. */
type Credentials = { readonly cert: Buffer; readonly key: Buffer } | undefined;

export async function openListener(options: ListenerOptions): Promise<ServeListener | Failure> {
  const { config } = options;
  const { listen, limits, tls } = config();
  const credentials = readCredentials(config());
  if (credentials !== undefined && 'code' in credentials) return credentials;
  const server = openServer(credentials);
  if ('code' in server) return server;
  server.maxHeadersCount = HEADERS_MAX;
  const gate = new ConnectionGate({ connectionsMax: limits.connections, waitingMax: WAITING_MAX });
  gate.watch(server);
  const front = new Front(options, gate);
  server.on('request', (request, response) => front.handle(request, response));
  refuseUpgrades(server);
  const listening = await listenOnAddress(server, listen);
  if (listening.kind === 'failed') return notListening(listen, listening.why);
  server.on('error', () => {});
  const port = Number(new URL(listening.url).port);
  front.guard = guardFor(config(), port);
  const renew = (): Failure | undefined => {
    front.guard = guardFor(config(), port);
    const next = readCredentials(config());
    if (next === undefined || !(server instanceof TlsServer)) return undefined;
    return 'code' in next ? next : setContext(server, next);
  };
  const close = async (graceMs: number): Promise<void> => {
    const closed = closeHttpServer(server, graceMs);
    gate.dropWaiting();
    await closed;
  };
  const url = tls === undefined ? listening.url : listening.url.replace(/^http:/, 'https:');
  return { kind: 'listening', url, renew, close };
}

class Front {
  guard: HostRules = { hosts: new Set(), origins: new Set() };
  readonly #options: ListenerOptions;
  readonly #gate: ConnectionGate;
  /** Requests under way, by caller. */
  readonly #openRequests = new Map<string, number>();

  constructor(options: ListenerOptions, gate: ConnectionGate) {
    this.#options = options;
    this.#gate = gate;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const check = refusedBy(request, this.guard);
    const { url = '' } = request;
    const at = url.indexOf('?');
    const path = at === -1 ? url : url.slice(0, at);
    // Pages may read how to get a token.
    const mayCome = check === 'origin' && path.startsWith(WELL_KNOWN);
    if (check !== undefined && !mayCome) return refuse(response, REFUSALS[check]);
    if (check === undefined && request.headers.origin !== undefined) {
      if (answerPage(request, response)) return;
    }
    if (path === '/healthz') return sendJson(response, '{"status":"ok"}');
    if (path === '/readyz') return this.#ready(response);
    if (path.startsWith(WELL_KNOWN)) return this.#metadata(path, request, response);
    const [, server] = PATH.exec(path) ?? [];
    if (server === undefined || !this.#options.config().servers.has(server)) {
      return refuse(response, NO_SUCH_SERVER);
    }
    this.#authenticate(request, response, server);
  }

  #ready(response: ServerResponse): void {
    const { status, serversNotReady } = this.#options.readiness();
    // Who asks is not known: how many there are, not which.
    const lacking = serversNotReady > 0 && { servers_not_ready: serversNotReady };
    sendJson(response, JSON.stringify({ status, ...lacking }), {
      status: status === 'ready' ? 200 : 503,
    });
  }

  #metadata(path: string, { method }: IncomingMessage, response: ServerResponse): void {
    const body = this.#options.authenticator().metadata(path);
    if (body === undefined) return refuse(response, NO_SUCH_SERVER);
    if (method === 'GET') return sendJson(response, body, { headers: METADATA_HEADERS });
    if (method !== 'OPTIONS') return refuse(response, METADATA_ONLY_READ);
    response.writeHead(204, METADATA_PREFLIGHT).end();
  }

  #authenticate(request: IncomingMessage, response: ServerResponse, server: string): void {
    const { authenticator, onDefect } = this.#options;
    authenticator()
      .authenticate(request, server)
      .then((caller) => this.#admitted(caller, { request, response, server }))
      .catch((cause: unknown) => {
        onDefect(cause);
        refuse(response, DEFECT);
      });
  }

  #admitted(
    authenticated: Authenticated,
    {
      request,
      response,
      server,
    }: { request: IncomingMessage; response: ServerResponse; server: string },
  ): void {
    if (authenticated.kind === 'refused') {
      const { status, headers, message } = authenticated;
      return refuse(response, { status, code: RPC.refused, message, headers });
    }
    // Only now: whoever shows wrong tokens must not take the room of those who have right ones.
    if (!this.#gate.admit(request.socket)) return;
    const runName = request.headers['x-subluminal-run'];
    if (runName !== undefined && (typeof runName !== 'string' || !RUN_NAME.test(runName))) {
      return refuse(response, BAD_RUN);
    }
    const { principal, untilMs } = authenticated;
    if (!this.#takeShare(principal, response)) return refuse(response, OWN_REQUESTS_FULL);
    const caller: Caller = { principal, server, runName, untilMs };
    this.#options.endpoint.handle(request, response, caller);
  }

  /** One caller leaves room for others: it has half of the connections at most. */
  #takeShare({ id, kind }: Principal, response: ServerResponse): boolean {
    if (kind === 'local') return true;
    const open = this.#openRequests.get(id) ?? 0;
    if (open >= Math.max(1, this.#options.config().limits.connections / 2)) return false;
    this.#openRequests.set(id, open + 1);
    response.once('close', () => {
      const left = (this.#openRequests.get(id) ?? 1) - 1;
      if (left > 0) this.#openRequests.set(id, left);
      else this.#openRequests.delete(id);
    });
    return true;
  }
}

function guardFor(config: ServeConfig, port: number): HostRules {
  const { listen, tls, publicUrl, allowedHosts, allowedOrigins } = config;
  const isTls = tls !== undefined;
  return hostRules({ host: listen.host, port, isTls, publicUrl, allowedHosts, allowedOrigins });
}

function readCredentials({ tls }: ServeConfig): Credentials | Failure {
  if (tls === undefined) return undefined;
  try {
    return { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
  } catch (cause) {
    return badTls(cause);
  }
}

function openServer(credentials: Credentials): Server | TlsServer | Failure {
  if (credentials === undefined) return createServer(SERVER_OPTIONS);
  try {
    return createTlsServer({ ...SERVER_OPTIONS, ...credentials, minVersion: 'TLSv1.2' });
  } catch (cause) {
    return badTls(cause);
  }
}

function setContext(server: TlsServer, credentials: NonNullable<Credentials>): Failure | undefined {
  try {
    server.setSecureContext(credentials);
    return undefined;
  } catch (cause) {
    return badTls(cause);
  }
}

function badTls(cause: unknown): Failure {
  const message = `the certificate or its key cannot be used (${errorText(cause)}).`;
  return failure('SUB_SERVE_LISTEN', message, 'Check the files that `tls` names: both are PEM.');
}

function notListening({ host, port }: ServeConfig['listen'], why: string): Failure {
  const what = why === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${why})`;
  const fix = 'Free the port, or set another `listen`.';
  return failure('SUB_SERVE_LISTEN', `${host}:${port} ${what}.`, fix);
}

const REFUSALS = {
  host: { status: 403, code: RPC.refused, message: 'The Host is not this address.' },
  origin: { status: 403, code: RPC.refused, message: 'Pages of this origin may not call.' },
};
const OWN_REQUESTS_FULL = {
  status: 429,
  code: RPC.refused,
  message: 'You have too many requests under way: let some end, or have limits.connections raised.',
  headers: { 'retry-after': '5' },
};
const METADATA_ONLY_READ = {
  status: 405,
  code: RPC.invalidRequest,
  message: 'Use GET.',
  headers: { allow: 'GET, OPTIONS' },
};
const NO_SUCH_SERVER = { status: 404, code: RPC.refused, message: 'There is no such server here.' };
const BAD_RUN = {
  status: 400,
  code: RPC.refused,
  message: 'X-Subluminal-Run is no name of a run.',
};
