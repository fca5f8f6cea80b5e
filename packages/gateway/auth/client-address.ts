// Where a request comes from, and whether requests from there are answered. Headers of proxies count only when a
// trusted proxy has sent them.
import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Failure, tableFailure } from '@subluminal/contracts';
import { isInBlocks, readBlocks } from '@subluminal/plane/os/public-address';

export interface AddressRules {
  /** Undefined when every address may ask. */
  readonly allowed: BlockList | undefined;
  /** Undefined when no proxy is trusted. */
  readonly trustedProxies: BlockList | undefined;
}

interface AddressOptions {
  /** CIDR blocks or addresses; empty allows all. */
  readonly ipAllowlist?: readonly string[];
  readonly trustedProxies?: readonly string[];
}

/** More hops than any honest request has. */
const HOPS_MAX = 32;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

export function addressRules(options: AddressOptions): AddressRules | Failure {
  const { ipAllowlist = [], trustedProxies = [] } = options;
  const allowed = readBlocks(ipAllowlist);
  if (typeof allowed === 'string') return invalidBlock(allowed);
  const proxies = readBlocks(trustedProxies);
  if (typeof proxies === 'string') return invalidBlock(proxies);
  return {
    allowed: ipAllowlist.length === 0 ? undefined : allowed,
    trustedProxies: trustedProxies.length === 0 ? undefined : proxies,
  };
}

function invalidBlock(text: string): Failure {
  return tableFailure('SUB_CONFIG_VALUE', `\`${text}\` is no address and no CIDR block.`);
}

/** The address of the client: of the peer, or what trusted proxies say about it, nearest first. */
export function clientAddress(request: IncomingMessage, rules: AddressRules): string {
  let address = plainAddress(request.socket.remoteAddress ?? '');
  const { trustedProxies } = rules;
  if (trustedProxies === undefined || !isInBlocks(trustedProxies, address)) return address;
  const forwarded = (request.headersDistinct['x-forwarded-for'] ?? []).join(',').split(',');
  for (const hop of forwarded.toReversed().slice(0, HOPS_MAX)) {
    const next = plainAddress(hop.trim());
    // What is no address was not written by a proxy that we trust.
    if (isIP(next) === 0) return address;
    address = next;
    if (!isInBlocks(trustedProxies, address)) return address;
  }
  return address;
}

/** Whether the client came by TLS: to us, or to a trusted proxy. */
export function isSecureRequest(request: IncomingMessage, rules: AddressRules): boolean {
  if (request.socket instanceof TLSSocket) return true;
  const peer = plainAddress(request.socket.remoteAddress ?? '');
  const { trustedProxies } = rules;
  if (trustedProxies === undefined || !isInBlocks(trustedProxies, peer)) return false;
  // The first proxy is the one that the browser speaks to.
  const [first = ''] = (request.headersDistinct['x-forwarded-proto'] ?? []).join(',').split(',');
  return first.trim().toLowerCase() === 'https';
}

export function isAllowedAddress(address: string, { allowed }: AddressRules): boolean {
  return allowed === undefined || isInBlocks(allowed, address);
}

/** What failures are counted by: the owner of an IPv6 address has at least all of its /64. */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...(tail === undefined ? [] : zeros), ...after].slice(0, 4).join(':');
}

function plainAddress(address: string): string {
  return MAPPED.exec(address)?.[1] ?? address;
}
