// Calls of upstreams: connections that are kept per origin, with limits and timeouts, and no redirects.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { fault, faultFrom, type UpstreamFault } from './fault.ts';

export interface UpstreamOptions {
  /** Connections to one origin at the same time. */
  readonly connectionsMax?: number;
  readonly connectMs?: number;
  readonly keepAliveMs?: number;
  /** What a connection shows of itself, and whom it trusts beside the system's authorities. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** The proxy that this machine reaches the world by. */
  readonly proxy?: {
    readonly httpProxy?: string;
    readonly httpsProxy?: string;
    readonly noProxy?: string;
  };
}

export interface UpstreamCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Uint8Array | undefined;
  /** Until the answer begins, and between two of its parts. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Without its content encoding. Destroy it, or read it to its end. */
  readonly body: Readable;
}

export interface Upstream {
  call(call: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault>;
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 1_024;
const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 15_000;
const HEADERS_BYTES_MAX = 64 * 1024;

export function openUpstream(options: UpstreamOptions = {}): Upstream {
  const agent = dispatcherFor(options);
  return {
    call: (call) => send(agent, call),
    close: () => agent.destroy(),
  };
}

function dispatcherFor(options: UpstreamOptions): Dispatcher {
  const { connectionsMax = CONNECTIONS_MAX, connectMs = CONNECT_MS, tls, proxy } = options;
  const settings: Agent.Options = {
    connections: connectionsMax,
    // One turn must not wait for another.
    pipelining: 1,
    keepAliveTimeout: options.keepAliveMs ?? KEEP_ALIVE_MS,
    maxHeaderSize: HEADERS_BYTES_MAX,
    connect: { timeout: connectMs, ...tls },
  };
  return proxy === undefined
    ? new Agent(settings)
    : new EnvHttpProxyAgent({ ...settings, ...proxy });
}

async function send(
  agent: Dispatcher,
  call: UpstreamCall,
): Promise<UpstreamAnswer | UpstreamFault> {
  const { origin, pathname, search } = new URL(call.url);
  try {
    const { statusCode, headers, body } = await agent.request({
      origin,
      path: pathname + search,
      method: call.method,
      headers: headerList(call.headers),
      body: call.body ?? null,
      headersTimeout: call.timeoutMs,
      bodyTimeout: call.timeoutMs,
      signal: call.signal,
    });
    const decoded = decode(body, headers['content-encoding']);
    if (decoded !== undefined) return { status: statusCode, headers, body: decoded };
    body.on('error', () => {}).destroy();
    return fault('malformed', 'The upstream encodes its answer in a way that was not asked for.');
  } catch (cause) {
    return faultFrom(cause);
  }
}

/** Names and values in turn: the form that costs undici the least. */
function headerList(headers: OutgoingHttpHeaders): string[] {
  const list = ['accept-encoding', 'identity'];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (Array.isArray(value)) for (const one of value) list.push(name, one);
    else if (value !== undefined) list.push(name, String(value));
  }
  return list;
}

/** Some upstreams compress whatever they are asked for. */
function decode(body: Readable, encoding: string | string[] | undefined): Readable | undefined {
  const decoder = decoderFor(encoding);
  if (decoder === 'none') return body;
  if (decoder === undefined) return undefined;
  body.on('error', (cause) => decoder.destroy(cause));
  decoder.on('close', () => body.destroy());
  return body.pipe(decoder);
}

function decoderFor(encoding: string | string[] | undefined) {
  switch (encoding === undefined ? 'identity' : String(encoding).trim().toLowerCase()) {
    case '':
    case 'identity':
      return 'none';
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}
