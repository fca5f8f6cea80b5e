// Addresses that a gateway must not be made to call: its own machine, private networks, and what is no place at all.
import { isIP } from 'node:net';
import { isInBlocks, readBlocks } from '../auth/client-address.ts';

const PRIVATE = readBlocks([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // The last ones carry an IPv4 address inside, or are for tunnels.
  ...['::/127', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8', '100::/64', '2001:db8::/32'],
  ...['64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16'],
]);

/** Whether an IP address is not one of the public internet. */
export function isPrivateAddress(address: string): boolean {
  if (typeof PRIVATE === 'string') throw new Error(`no block: ${PRIVATE}`);
  return isInBlocks(PRIVATE, address);
}

const LOCAL_NAMES = /^(?:[^.]+|.*\.(?:localhost|local|internal|intranet|lan|home\.arpa))$/;

/** Whether a host of a URL is private by its name alone; what a public name leads to is not looked up. */
export function isPrivateHost(host: string): boolean {
  const plain = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  return isIP(plain) === 0 ? LOCAL_NAMES.test(plain) : isPrivateAddress(plain);
}
