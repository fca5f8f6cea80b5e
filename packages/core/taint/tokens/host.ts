// Hosts in one spelling, whatever case, alphabet or number system they were written in.
import { decodePunycode } from './punycode.ts';

const LABEL = /^[\p{L}\p{N}\p{M}_-]{1,63}$/u;
const HOST_LENGTH_MAX = 253;
/** Numbers without dots that are long enough for an address. */
export const NUMBER_HOST = /^(?:0x[0-9a-f]{7,8}|\d{8,11})$/i;

/** The host of `user@host:port`, in one spelling; undefined when it can't be a host. */
export function hostOf(authority: string): string | undefined {
  const place = authority.slice(authority.lastIndexOf('@') + 1);
  const [, v6] = /^\[([0-9a-f:.%]{2,64})\]/i.exec(place) ?? [];
  if (v6 !== undefined) return `[${v6.toLowerCase()}]`;
  const name = place.replace(/:\d{0,5}$/, '').replace(/\.+$/, '');
  if (name === '' || name.length > HOST_LENGTH_MAX) return undefined;
  const number = ipv4Of(name);
  if (number !== undefined) return number;
  const labels = name.toLowerCase().split('.');
  if (!labels.every((label) => LABEL.test(label))) return undefined;
  return labels.map(plainLabel).join('.');
}

function plainLabel(label: string): string {
  if (!label.startsWith('xn--')) return label;
  const plain = decodePunycode(label.slice(4));
  return plain === undefined ? label : plain.normalize('NFKC').toLowerCase();
}

/** `2130706433`, `0x7f.1` and `0177.0.0.1` are all 127.0.0.1, as the system's resolver reads them. */
function ipv4Of(name: string): string | undefined {
  const parts = name.split('.');
  if (parts.length > 4) return undefined;
  const numbers: number[] = [];
  for (const part of parts) {
    if (!/^(?:0x[0-9a-f]{1,8}|\d{1,11})$/i.test(part)) return undefined;
    const base = /^0x/i.test(part) ? 16 : /^0[0-7]+$/.test(part) ? 8 : 10;
    numbers.push(Number.parseInt(base === 16 ? part.slice(2) : part, base));
  }
  const last = numbers.pop() ?? 0;
  if (numbers.some((number) => number > 255) || last >= 256 ** (4 - numbers.length)) {
    return undefined;
  }
  const value = numbers.reduce((sum, byte, index) => sum + byte * 256 ** (3 - index), last);
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

/** The address behind a number that nobody writes for anything else: `0xcb.0.113.77`, `203.0.29005`. */
export function plainNumberHost(word: string): string | undefined {
  const name = word.slice(word.lastIndexOf('@') + 1);
  const isNumber = /^(?:0x[0-9a-f]{1,8}|\d{1,11})(?:\.(?:0x[0-9a-f]{1,8}|\d{1,11})){0,3}$/i.test(
    name,
  );
  const isOdd = name.includes('.') ? /0x|(?:^|\.)0\d|\d{4}/i.test(name) : NUMBER_HOST.test(name);
  return isNumber && isOdd ? ipv4Of(name) : undefined;
}

/** A name with dots that ends like a domain, or an address in dots; not `3.14` and not `v1.2`. */
export function looksLikeHost(word: string): boolean {
  const name = word.replace(/:\d{1,5}$/, '').replace(/\.$/, '');
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)) return true;
  return /^[^.\s/@]{1,63}(?:\.[^.\s/@]{1,63}){0,8}\.(?:\p{L}{2,24}|xn--[a-z0-9-]{2,59})$/iu.test(
    name,
  );
}

/** The hosts above: `a.b.evil.example` → `b.evil.example`, `evil.example`. */
export function hostsAbove(host: string): readonly string[] {
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return [];
  const labels = host.split('.');
  const above: string[] = [];
  for (let from = 1; from <= labels.length - 2; from++) above.push(labels.slice(from).join('.'));
  return above;
}
