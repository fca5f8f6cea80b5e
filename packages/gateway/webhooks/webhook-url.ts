// Which URLs webhooks may be sent to.
import { isIP } from 'node:net';
import { isPublicAddress } from '@subluminal/plane/os/public-address';

/** Where messages may go. */
export interface WebhookRules {
  /** Hosts; `*.example.com` is every host below. */
  readonly allowedHosts: readonly string[];
  readonly allowPrivateAddresses: boolean;
}

/** Why a URL is no place for messages. */
export function urlProblem(url: string, rules: WebhookRules): string | undefined {
  if (!URL.canParse(url)) return 'It is not a URL.';
  const { protocol, hostname, username, password } = new URL(url);
  const isSecure = protocol === 'https:' || (protocol === 'http:' && rules.allowPrivateAddresses);
  if (!isSecure) return 'It must begin with https.';
  if (username !== '' || password !== '') return 'It must not hold a user or a password.';
  if (!rules.allowedHosts.some((pattern) => isHostLike(hostname, pattern))) {
    return `\`allowed_hosts\` in webhooks.yaml does not name ${hostname}.`;
  }
  const address = hostname.replaceAll(/[[\]]/g, '');
  if (isIP(address) === 0 || rules.allowPrivateAddresses) return undefined;
  return isPublicAddress(address) ? undefined : 'Its address is in a private network.';
}

function isHostLike(host: string, pattern: string): boolean {
  const wanted = pattern.toLowerCase();
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
}
