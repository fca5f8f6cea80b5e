// Hosts that are private by what stands in a URL; what a public name leads to is not looked up.
import { isIP } from 'node:net';
import { isPublicAddress } from '@subluminal/plane/os/public-address';

const LOCAL_NAMES = /^(?:[^.]+|.*\.(?:localhost|local|internal|intranet|lan|home\.arpa))$/;

export function isPrivateHost(host: string): boolean {
  const plain = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  return isIP(plain) === 0 ? LOCAL_NAMES.test(plain) : !isPublicAddress(plain);
}
