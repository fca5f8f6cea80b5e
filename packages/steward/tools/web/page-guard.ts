// Which addresses may be asked. Only what a name leads to on the open internet, and hosts that the user has listed by
// their names: a page must not make us look into the network that we are in.
import { isIP } from 'node:net';
import { isPublicAddress } from '@subluminal/plane/os/public-address';
import { isListed } from '../../egress/index.ts';

export interface PageGuard {
  /** Why this address may not be asked, as the end of a sentence about it. */
  readonly problem: (url: string) => string | undefined;
  /** Whether a redirect may be followed without anybody deciding about it. */
  readonly mayFollow: (from: URL, to: URL) => boolean;
  /** Whether a connection for this host may go to this address. */
  readonly isAllowed: (address: string, host: string) => boolean;
}

const LENGTH_MAX = 2_048;

export function pageGuard(hosts: readonly string[]): PageGuard {
  // A pattern may stand for names that others choose.
  const named = new Set(hosts.map((host) => host.toLowerCase()).filter((host) => !/\*/.test(host)));
  const isAllowed = (address: string, host: string): boolean =>
    isPublicAddress(address) || named.has(plainHost(host));
  const problem = (text: string): string | undefined => {
    if (text.length > LENGTH_MAX || !URL.canParse(text)) return 'is not a URL';
    const url = new URL(text);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is no address of the web';
    if (url.username !== '' || url.password !== '') return 'holds a user or a password';
    const host = plainHost(url.hostname);
    // Nothing is looked up for a number: it is judged here.
    return isIP(host) === 0 || isAllowed(host, host) ? undefined : 'is in a private network';
  };
  const mayFollow = (from: URL, to: URL): boolean => {
    if (from.protocol === 'https:' && to.protocol !== 'https:') return false;
    return isSameSite(from, to) || isListed(hosts, plainHost(to.hostname));
  };
  return { problem, mayFollow, isAllowed };
}

/** Without brackets, and without the dot at its end. */
function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replaceAll(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

/** The same host, with `www.` or without. */
function isSameSite(from: URL, to: URL): boolean {
  const [one, other] = [from, to].map(({ hostname }) => plainHost(hostname).replace(/^www\./, ''));
  return one === other;
}
