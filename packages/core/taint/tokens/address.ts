// Addresses: e-mail and web, in one spelling.
import { hostOf, looksLikeHost, NUMBER_HOST } from './host.ts';

export interface Email {
  readonly address: string;
  readonly host: string;
}

export interface WebAddress {
  readonly host: string;
  /** Host, path and query, without scheme, port and fragment; `host` alone when there is no path. */
  readonly address: string;
}

const EMAIL = /[\p{L}\p{N}._%+'-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}\p{N}-]{2,63}/gu;
const SCHEMES =
  /[a-z][a-z0-9+.-]{1,20}:(?=[/\\]{2})|(?<![a-z0-9+.-])(?:https?|wss?|ftp):|(?<=^|[=@])(?=[/\\]{2})/i;
const ADDRESS_LENGTH_MAX = 512;
/** Public mail hosts: an untrusted sender there does not make the host untrusted. */
export const SHARED_MAIL: ReadonlySet<string> = new Set(
  `gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com icloud.com me.com
   aol.com proton.me protonmail.com gmx.de gmx.net gmx.com web.de mail.com mail.ru yandex.ru
   fastmail.com zoho.com qq.com 163.com`.split(/\s+/),
);

export function emailsIn(word: string): readonly Email[] {
  if (!word.includes('@')) return [];
  const found: Email[] = [];
  for (const [match] of word.matchAll(EMAIL)) {
    const at = match.lastIndexOf('@');
    const host = hostOf(match.slice(at + 1));
    if (host === undefined) continue;
    // What stands behind a plus reaches the same mailbox.
    const local = match
      .slice(0, at)
      .toLowerCase()
      .replace(/(?<=.)\+.*$/, '');
    found.push({ address: `${local}@${host}`, host });
  }
  return found;
}

/** Addresses with a scheme anywhere in a word, those in a query of another included. */
export function webAddressesIn(word: string): readonly WebAddress[] {
  const found: WebAddress[] = [];
  for (const [index, part] of word.split(SCHEMES).entries()) {
    // Browsers take backslashes for slashes, and any number of them for two.
    const rest = part.replace(/^[/\\]{2,}/, '');
    const isSlashed = rest !== part;
    const bare = rest.replace(/^[/\\]/, '');
    const address = isSlashed ? webAddress(rest) : bareAddress(index > 0 ? bare : part, index > 0);
    if (address !== undefined) found.push(address);
  }
  return found;
}

/** `evil.example/x`, without a scheme, or without slashes behind it. */
function bareAddress(word: string, hasScheme: boolean): WebAddress | undefined {
  const host = word.slice(0, word.search(/[/\\?#\0]|$/));
  const isHost = looksLikeHost(host.slice(hasScheme ? host.lastIndexOf('@') + 1 : 0));
  return isHost || (hasScheme && NUMBER_HOST.test(host)) ? webAddress(word) : undefined;
}

function webAddress(rest: string): WebAddress | undefined {
  const end = rest.search(/[/\\?#\0]|$/);
  const host = hostOf(rest.slice(0, end));
  if (host === undefined) return undefined;
  const path = rest
    .slice(end)
    .replaceAll('\\', '/')
    .replace(/#.*$/, '')
    .replace(/[/?]+$/, '');
  return { host, address: (host + path).slice(0, ADDRESS_LENGTH_MAX).toLowerCase() };
}

/** The addresses above, nearest first: without the query, then folder by folder, the host left out. */
export function addressesAbove(address: string): readonly string[] {
  const [path = ''] = address.split('?', 1);
  const above = path === address ? [] : [path.replace(/\/+$/, '')];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    above.push(path.slice(0, end));
  }
  return above.filter((one) => one.includes('/'));
}
