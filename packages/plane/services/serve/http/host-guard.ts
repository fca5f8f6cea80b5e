// Which requests may come in at all: a web page whose name was made to point here sends its own name as Host, and its
// own origin.
import type { IncomingMessage } from 'node:http';

export interface HostRules {
  /** `host:port` values of `Host` that are right. */
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

interface GuardSettings {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK_NAMES: { readonly [host: string]: readonly string[] } = {
  '127.0.0.1': ['127.0.0.1', 'localhost'],
  localhost: ['127.0.0.1', 'localhost', '[::1]'],
  '::1': ['[::1]', 'localhost'],
};
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** The hosts and origins that are our own, and those that the configuration adds. */
export function hostRules(settings: GuardSettings): HostRules {
  const { host, port, isTls, publicUrl, allowedHosts, allowedOrigins } = settings;
  const names = ANY_ADDRESS.has(host)
    ? (LOOPBACK_NAMES['localhost'] ?? [])
    : (LOOPBACK_NAMES[host] ?? [host.includes(':') ? `[${host}]` : host]);
  const scheme = isTls ? 'https' : 'http';
  const own = names.map((name) => new URL(`${scheme}://${name}:${port}`));
  const known = publicUrl === undefined ? own : [...own, new URL(publicUrl)];
  const hosts = [
    ...known.flatMap((url) => [url.host, `${url.hostname}:${url.port || defaultPort(url)}`]),
    ...allowedHosts.map((name) => name.toLowerCase()),
  ];
  return {
    hosts: new Set(hosts),
    origins: new Set([...known.map((url) => url.origin), ...allowedOrigins]),
  };
}

function defaultPort({ protocol }: URL): string {
  return protocol === 'https:' ? '443' : '80';
}

/** Which check a request fails. */
export function refusedBy(
  { headers, rawHeaders, url = '' }: IncomingMessage,
  { hosts, origins }: HostRules,
): 'host' | 'origin' | undefined {
  const { host, origin } = headers;
  // A target in absolute form names a host of its own.
  if (host === undefined || !url.startsWith('/') || !hosts.has(host.toLowerCase())) return 'host';
  if (hasTwoHosts(rawHeaders)) return 'host';
  if (origin === undefined) return undefined;
  return origins.has(origin) ? undefined : 'origin';
}

/** Node drops the second one; another reader may drop the first. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}
