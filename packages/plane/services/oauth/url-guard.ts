// Which addresses a server and its metadata may send us to. What a server names is hostile: it must not make us ask
// machines of a private network, or the metadata service of a cloud.
import { isIP } from 'node:net';
import { isInBlocks, isPublicAddress, readBlocks } from '../../os/public-address.ts';
import type { OAuthSettings } from '../../stores/config/index.ts';

export interface UrlGuard {
  /** Why this address may not be asked, as the end of a sentence about it. */
  problem(url: string): string | undefined;
  /** Whether a connection for this host may go to this address. */
  isAllowed(address: string, host: string): boolean;
}

type Network = 'public' | 'private' | 'loopback' | 'other';

const LENGTH_MAX = 2_048;
const LOOPBACK = blocks('127.0.0.0/8', '::1');
const PRIVATE = blocks(
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  'fc00::/7',
);
/** Where clouds tell a machine its credentials. They are link-local elsewhere. */
const METADATA = blocks('100.100.100.200', 'fd00:ec2::254');
const LOCAL_NAMES = /^(?:[^.]+|.*\.(?:local|internal|intranet|lan|home\.arpa))$/;

function blocks(...texts: readonly string[]) {
  const list = readBlocks(texts);
  if (typeof list === 'string') throw new TypeError(`${list} is no block`);
  return list;
}

function networkOf(address: string): Network {
  if (isPublicAddress(address)) return 'public';
  if (isInBlocks(LOOPBACK, address)) return 'loopback';
  return isInBlocks(PRIVATE, address) && !isInBlocks(METADATA, address) ? 'private' : 'other';
}

/** By the name alone: what a public name leads to is not believed. */
function networkOfHost(host: string): Network {
  if (isIP(host) !== 0) return networkOf(host);
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback';
  return LOCAL_NAMES.test(host) ? 'private' : 'public';
}

/** A host as sockets have it: without brackets, and without the dot at its end. */
function hostOf({ hostname }: URL): string {
  return hostname.replaceAll(/^\[|\]$/g, '').replace(/\.$/, '');
}

export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && networkOfHost(hostOf(new URL(url))) === 'loopback';
}

/** The addresses that the user has named may be anywhere; what else is found, no further inside than the server. */
export function guardFor(
  server: string,
  { authorizationServer }: Pick<OAuthSettings, 'authorizationServer'>,
): UrlGuard {
  const named = authorizationServer === undefined ? [server] : [server, authorizationServer];
  const given = named.filter((url) => URL.canParse(url)).map((url) => new URL(url));
  const hosts = new Set(given.map(hostOf));
  const own = networkOfHost(given[0] === undefined ? '' : hostOf(given[0]));
  const isAllowed = (address: string, host: string): boolean => {
    if (hosts.has(host.replace(/\.$/, ''))) return true;
    const network = networkOf(address);
    if (network === 'public') return true;
    return network === 'loopback' ? own === 'loopback' : network === 'private' && own !== 'public';
  };
  const problem = (text: string): string | undefined => {
    if (text.length > LENGTH_MAX || !URL.canParse(text)) return 'is not a URL';
    const url = new URL(text);
    const host = hostOf(url);
    const mayBePlain = own === 'loopback' && networkOfHost(host) === 'loopback';
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBePlain)) {
      return 'does not begin with https';
    }
    if (url.username !== '' || url.password !== '') return 'holds a user or a password';
    if (url.hash !== '') return 'has a fragment';
    if (isIP(host) === 0 || isAllowed(host, host)) return undefined;
    return 'is in a private network';
  };
  return { problem, isAllowed };
}

/** The canonical form of a server's address: what tokens are kept and asked for by. */
export function canonicalUrl(url: string): string {
  const { protocol, host, pathname, search } = new URL(url);
  const path = pathname === '/' && search === '' ? '' : pathname;
  return `${protocol}//${host}${path}${search}`;
}
