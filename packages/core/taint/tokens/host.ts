// Hosts in one spelling, whatever case, alphabet or number system they were written in.

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

/** The address behind a number that is written for nothing else: `0xcb.0.113.77`, `203.0.29005`. */
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

// RFC 3492, decoding only: one spelling for `xn--…` and for the letters it stands for.

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const BIAS_FIRST = 72;
const POINT_FIRST = 128;
const POINT_MAX = 0x10_ff_ff;

/** The letters of a label without its `xn--`; undefined when it is not punycode. */
export function decodePunycode(encoded: string): string | undefined {
  const split = encoded.lastIndexOf('-');
  const points = Array.from(split > 0 ? encoded.slice(0, split) : '', (char) => char.charCodeAt(0));
  if (points.some((point) => point >= POINT_FIRST)) return undefined;
  let at = split > 0 ? split + 1 : 0;
  let point = POINT_FIRST;
  let index = 0;
  let bias = BIAS_FIRST;
  while (at < encoded.length) {
    const before = index;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digitOf(encoded.charCodeAt(at++));
      if (digit === undefined) return undefined;
      index += digit * weight;
      if (index > Number.MAX_SAFE_INTEGER / BASE) return undefined;
      const threshold = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const count = points.length + 1;
    bias = adapted(index - before, count, before === 0);
    point += Math.floor(index / count);
    index %= count;
    if (point > POINT_MAX || (point >= 0xd800 && point <= 0xdfff)) return undefined;
    points.splice(index++, 0, point);
  }
  return String.fromCodePoint(...points);
}

function adapted(delta: number, count: number, first: boolean): number {
  let left = Math.floor(delta / (first ? DAMP : 2));
  left += Math.floor(left / count);
  let k = 0;
  for (; left > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) left = Math.floor(left / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * left) / (left + SKEW));
}

function digitOf(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 26;
  if (code >= 0x61 && code <= 0x7a) return code - 0x61;
  if (code >= 0x41 && code <= 0x5a) return code - 0x41;
  return undefined;
}

// Addresses of version 6 in one form; those that stand for one of version 4 become that one.

const GROUPS = 8;

/** `[::ffff:c000:203]` → `192.0.2.3`; others in brackets get a name, the rest stays as it is. */
export function plainIpv6(text: string): string {
  const isBracketed = text.startsWith('[');
  const [bare = ''] = (isBracketed ? text.slice(1, -1) : text).split('%', 1);
  const groups = groupsOf(bare);
  if (groups === undefined) return text;
  const v4 = ipv4In(groups);
  if (v4 !== undefined) return v4;
  // The name that systems without colons in names use for it.
  const name = groups.map((group) => group.toString(16)).join('-');
  return isBracketed ? `${name}.ipv6-literal.net` : text;
}

function groupsOf(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(partsOf);
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === GROUPS ? head : undefined;
  if (tail === undefined || head.length + tail.length >= GROUPS) return undefined;
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => 0);
  return [...head, ...zeros, ...tail];
}

function partsOf(text: string): readonly number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  for (const part of text.split(':')) {
    const bytes = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(part) ? part.split('.').map(Number) : undefined;
    const [a = 0, b = 0, c = 0, d = 0] = bytes ?? [];
    if (bytes !== undefined) groups.push(a * 256 + b, c * 256 + d);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

/** Mapped, compatible, translated, and what goes through 6to4. */
function ipv4In(groups: readonly number[]): string | undefined {
  const starts = (...first: readonly number[]) => first.every((one, at) => groups[at] === one);
  const isLast = starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0xffff, 0);
  const isOther = starts(0x64, 0xff9b, 0, 0, 0, 0) || starts(0, 0, 0, 0, 0, 0);
  if (starts(0x2002)) return dotted(groups[1], groups[2]);
  // `::1` is a place of its own.
  if (!isLast && (!isOther || groups[6] === 0)) return undefined;
  return dotted(groups[6], groups[7]);
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
