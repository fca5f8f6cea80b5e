// Addresses of the open internet. What a name leads to is checked where the connection is made: a name that leads
// elsewhere a moment later leads nowhere.
import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** The blocks, or the text that is none. */
export function readBlocks(texts: readonly string[]): BlockList | string {
  const list = new BlockList();
  for (const text of texts) {
    const [address = '', prefix, ...rest] = text.split('/');
    const version = isIP(address);
    const bitsMax = version === 4 ? 32 : 128;
    const bits = prefix === undefined ? bitsMax : Number(prefix);
    const isBlock = version !== 0 && rest.length === 0 && /^\d{1,3}$/.test(prefix ?? '0');
    if (!isBlock || bits > bitsMax) return text;
    list.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

export function isInBlocks(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** The special-purpose registries of IANA: what is not reachable from everywhere. */
const SPECIAL = blocks(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
);
/** Of IPv6 only global unicast is public, without the parts of it that lead into other networks. */
const GLOBAL_UNICAST = blocks('2000::/3');
const SPECIAL_UNICAST = blocks('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

function blocks(...texts: readonly string[]): BlockList {
  const list = readBlocks(texts);
  if (typeof list === 'string') throw new TypeError(`${list} is no block`);
  return list;
}

export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !isInBlocks(SPECIAL, address);
  return (
    version === 6 && isInBlocks(GLOBAL_UNICAST, address) && !isInBlocks(SPECIAL_UNICAST, address)
  );
}

export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveHost: ResolveHost = async (host) =>
  (await systemLookup(host, { all: true })).map(({ address }) => address);

export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
}

/** A lookup for sockets that finds nothing when a single address of a name is not allowed. */
export function guardedLookup(
  isAllowed: (address: string, host: string) => boolean,
  resolve: ResolveHost = resolveHost,
): LookupFunction {
  return (host, options, callback) => {
    const found = resolve(host).then((addresses) => {
      if (addresses.length === 0 || !addresses.every((address) => isAllowed(address, host))) {
        throw new PrivateAddressError('The name leads to a private network.');
      }
      return addresses.map((address) => ({ address, family: isIP(address) }));
    });
    found.then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, addresses);
        else if (first !== undefined) callback(null, first.address, first.family);
      },
      (cause: unknown) => {
        const error = cause instanceof Error ? cause : new Error('The name leads nowhere.');
        callback(error, options.all ? [] : '', 0);
      },
    );
  };
}
