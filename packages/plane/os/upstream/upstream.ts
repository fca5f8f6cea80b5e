// Calls of upstreams: connections that are kept per origin, with limits and timeouts, and no redirects.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, EnvHttpProxyAgent, errors } from 'undici';
import type { AbortSource } from './call-abort.ts';
import { decodedBody } from './decoded-body.ts';
import { type AnswerBody, Exchange } from './exchange.ts';
import { fault, isFault, type UpstreamFault } from './fault.ts';

export interface UpstreamOptions {
  /** Connections to one origin at the same time. */
  readonly connectionsMax?: number;
  readonly connectMs?: number;
  readonly keepAliveMs?: number;
  /** What a connection shows of itself, and whom it trusts beside the system's authorities. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Finds the addresses of a host, and refuses those that may not be reached. A proxy finds them itself. */
  readonly lookup?: LookupFunction;
  /** The proxy that this machine reaches the world by. */
  readonly proxy?: {
    readonly httpProxy?: string;
    readonly httpsProxy?: string;
    readonly noProxy?: string;
  };
}

export type UpstreamMethod =
  | 'GET'
  | 'HEAD'
  | 'POST'
  | 'PUT'
  | 'PATCH'
  | 'DELETE'
  | 'PROPFIND'
  | 'REPORT';

export interface UpstreamCall {
  readonly method: UpstreamMethod;
  readonly url: string;
  readonly headers: OutgoingHttpHeaders;
  /** In pieces, so that a large body that is changed at one place needs no copy. */
  readonly body?: readonly Uint8Array[] | AsyncIterable<Uint8Array> | undefined;
  /** Until the answer begins, and between two of its parts; 0 for as long as it takes. */
  readonly timeoutMs: number;
  /** Between two parts of the answer, where that is another time. */
  readonly idleMs?: number | undefined;
  readonly signal: AbortSource;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Without its content encoding. Destroy it, or read it to its end. */
  readonly body: AnswerBody;
}

export interface Upstream {
  call(call: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault>;
  close(): Promise<void>;
}

/** undici sends any iterable of bytes, as its documentation says and its types do not. */
interface PieceDispatcher {
  dispatch(options: PieceOptions, handler: Dispatcher.DispatchHandler): boolean;
  destroy(): Promise<void>;
}
interface PieceOptions extends Omit<Dispatcher.DispatchOptions, 'body'> {
  readonly body?: Dispatcher.DispatchOptions['body'] | UpstreamCall['body'];
}

const CONNECTIONS_MAX = 1_024;
const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 15_000;
const HEADERS_BYTES_MAX = 64 * 1024;

export function openUpstream(options: UpstreamOptions = {}): Upstream {
  const agent = dispatcherFor(options);
  if (isFault(agent)) {
    return { call: () => Promise.resolve(agent), close: () => Promise.resolve() };
  }
  let last: Address = { url: '', origin: '', path: '' };
  return {
    call: (call) => {
      // Most calls go where the one before went.
      if (last.url !== call.url) last = addressOf(call.url);
      return send(agent, call, last);
    },
    close: () => agent.destroy(),
  };
}

function dispatcherFor(options: UpstreamOptions): PieceDispatcher | UpstreamFault {
  const { connectionsMax = CONNECTIONS_MAX, connectMs = CONNECT_MS, tls, lookup, proxy } = options;
  const settings: Agent.Options = {
    connections: connectionsMax,
    // One turn must not wait for another.
    pipelining: 1,
    keepAliveTimeout: options.keepAliveMs ?? KEEP_ALIVE_MS,
    maxHeaderSize: HEADERS_BYTES_MAX,
    connect: { timeout: connectMs, ...tls, ...(lookup && { lookup }) },
  };
  if (proxy === undefined) return new Agent(settings);
  try {
    return new EnvHttpProxyAgent({ ...settings, ...proxy });
  } catch {
    // Its message may hold the password of the proxy. Past a proxy that is meant, nothing goes.
    const message = 'HTTPS_PROXY or HTTP_PROXY is no URL like http://HOST:PORT.';
    return { ...fault('disconnect', message), unsent: 'unreachable' };
  }
}

interface Address {
  readonly url: string;
  readonly origin: string;
  readonly path: string;
}

function addressOf(url: string): Address {
  const { origin, pathname, search } = new URL(url);
  return { url, origin, path: pathname + search };
}

async function send(
  agent: PieceDispatcher,
  call: UpstreamCall,
  { origin, path }: Address,
): Promise<UpstreamAnswer | UpstreamFault> {
  const { signal } = call;
  if (signal.aborted) return fault('aborted', 'Aborted.');
  const exchange = new Exchange(() => signal.removeEventListener('abort', onAbort));
  const onAbort = (): void => exchange.abort(abortReason(signal));
  signal.addEventListener('abort', onAbort);
  const options = {
    origin,
    path,
    method: call.method,
    headers: headerList(call),
    body: isPieces(call.body) && call.body.length === 1 ? call.body[0] : call.body,
    headersTimeout: call.timeoutMs,
    bodyTimeout: call.idleMs ?? call.timeoutMs,
  };
  agent.dispatch(options, exchange);
  const start = await exchange.started;
  if (isFault(start)) return start;
  const { status, headers, body } = start;
  const decoded = decodedBody(body, headers['content-encoding']);
  if (decoded === body) return start;
  if (decoded !== undefined) return { status, headers, body: decoded };
  body.destroy();
  return fault('malformed', 'The upstream encodes its answer in a way that was not asked for.');
}

function abortReason({ reason }: AbortSource): Error {
  return reason instanceof Error ? reason : new errors.RequestAbortedError();
}

/** A body of a length that is known. */
function isPieces(body: UpstreamCall['body']): body is readonly Uint8Array[] {
  return Array.isArray(body);
}

/** Names and values in turn: the form that costs undici the least. */
function headerList({ headers, body }: UpstreamCall): string[] {
  const list = ['accept-encoding', 'identity'];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (Array.isArray(value)) for (const one of value) list.push(name, one);
    else if (value !== undefined) list.push(name, String(value));
  }
  if (isPieces(body)) {
    let length = 0;
    for (const part of body) length += part.length;
    list.push('content-length', String(length));
  }
  return list;
}
