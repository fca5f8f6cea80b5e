// Tunnels by the proxy of this machine, for clients that bring their own protocol: chat services, mail.
import { Agent, type AgentOptions } from 'node:https';
import { Socket } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { definedFields } from '@subluminal/contracts';
import { Client } from 'undici';
import { isLoopbackHost } from '../loopback-host.ts';
import { type Environment, proxyOf } from './proxy-of.ts';

export interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

const CONNECT_MS = 10_000;

/** The proxy that leads there; undefined where the way is direct. Throws for a proxy that is no URL. */
export function tunnelProxy(env: Environment, target: TunnelTarget): URL | undefined {
  const { httpsProxy, noProxy = '' } = proxyOf(env);
  if (!httpsProxy || isLoopbackHost(target.host) || isExcepted(noProxy, target)) return undefined;
  // Its text may hold a password.
  if (!URL.canParse(httpsProxy)) throw new Error('HTTPS_PROXY is no URL like http://HOST:PORT.');
  return new URL(httpsProxy);
}

function isExcepted(noProxy: string, { host, port }: TunnelTarget): boolean {
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, name = entry, only] = /^(.+):(\d+)$/.exec(entry) ?? [];
      if (only !== undefined && Number(only) !== port) return false;
      const suffix = name.replace(/^\*?\.?/, '');
      const lower = host.toLowerCase();
      return name === '*' || lower === suffix || lower.endsWith(`.${suffix}`);
    });
}

/** A connection to the target through the proxy, without TLS of its own. */
export async function openTunnel(proxy: URL, { host, port }: TunnelTarget): Promise<Socket> {
  const client = new Client(proxy.origin, { connect: { timeout: CONNECT_MS } });
  const authority = `${host}:${port}`;
  const { username, password } = proxy;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  try {
    const { statusCode, socket } = await client.connect({
      path: authority,
      headers: { host: authority, ...(username && { 'proxy-authorization': authorization }) },
      signal: AbortSignal.timeout(CONNECT_MS),
    });
    if (statusCode === 200 && socket instanceof Socket) return socket;
    socket.destroy();
    throw new Error(`The proxy refuses the way to ${authority} (${statusCode}).`);
  } finally {
    void client.close();
  }
}

/** HTTPS by the proxy, where one leads to the host. */
class TunnelAgent extends Agent {
  readonly #env: Environment;

  constructor(env: Environment, options: AgentOptions) {
    super(options);
    this.#env = env;
  }

  override createConnection(
    options: Parameters<Agent['createConnection']>[0],
    callback: (cause: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const host = options.host ?? 'localhost';
    const target = { host, port: Number(options.port ?? 443) };
    const failed = (cause: unknown) =>
      callback(cause instanceof Error ? cause : new Error('No tunnel.'), new PassThrough());
    try {
      const proxy = tunnelProxy(this.#env, target);
      if (proxy === undefined) return super.createConnection(options, callback);
      openTunnel(proxy, target).then((socket) => {
        callback(null, connectTls({ servername: host, ...tlsOptions(options), socket }));
      }, failed);
    } catch (cause) {
      failed(cause);
    }
    return undefined;
  }
}

type TlsField = 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername';

/** What the client wants of TLS: whom to trust, and by which name. */
function tlsOptions(options: Pick<ConnectionOptions, TlsField>): ConnectionOptions {
  const { ca, cert, key, rejectUnauthorized, servername } = options;
  return definedFields({ ca, cert, key, rejectUnauthorized, servername: servername || undefined });
}

/** For clients that take an agent of Node. */
export function tunnelAgent(env: Environment, options: AgentOptions = {}): Agent {
  return new TunnelAgent(env, { keepAlive: true, ...options });
}
