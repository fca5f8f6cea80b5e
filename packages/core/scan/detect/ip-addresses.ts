// Addresses of the Internet that may belong to a person. Addresses of private networks, of this
// machine, of manuals and of well-known resolvers belong to nobody in particular.
import { isDigit, isHex } from '../../json/byte-scanner.ts';
import type { Range } from '../types.ts';
import type { Detection } from './types.ts';

const V4 = /\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\d)/y;
const V6 = /(?:[0-9A-Fa-f]{0,4}:){2,8}[0-9A-Fa-f.]{0,15}(?![\w:])/y;
const GROUP_MAX = 5;
/** Rows of four numbers that are versions, sections or networks. */
const NO_ADDRESS =
  /(?:\b(?:v|ver|version|release|build|tag|section|chapter|oid|firmware|driver)|[A-Za-z]\/|\/[\w-]{1,24}:|\d\.\d{1,8}[ ,]|[=~^<>@]=?|§)[\s:="']{0,3}$/i;
const ADDRESS_WORD =
  /(?:\b|_)(?:ip|ipv4|addr|address|host|client|remote|peer|server)["']?\s?[:=]["'\s]{0,2}$/i;
const NETWORK = /^\/\d/;
const LABEL_REACH = 24;
/** Versions and sections count in small numbers. */
const SMALL = 32;
const RESOLVERS: ReadonlySet<string> = new Set([
  '8.8.8.8',
  '8.8.4.4',
  '1.1.1.1',
  '1.0.0.1',
  '9.9.9.9',
]);

export function detectAddresses({ view, found, meter }: Detection): void {
  const { text } = view;
  meter.steps += text.length;
  const report = (range: Range) => {
    const value = text.slice(range.start, range.end).toLowerCase();
    const label = 'looks like the address of a computer on the Internet';
    found({ class: 'personal', rule: 'ip-address', ...range, label, score: 2, value });
  };
  // Few signs stand between digits: looking for them costs less than a pattern that tries each place.
  for (let at = text.indexOf('.'); at >= 0; at = text.indexOf('.', at + 1)) {
    if (!isDigit(text.charCodeAt(at - 1)) || !isDigit(text.charCodeAt(at + 1))) continue;
    const start = groupStart(text, at, isDigit);
    const written = /[\w.-]/.test(text[start - 1] ?? ' ') ? undefined : matchAt(V4, text, start);
    if (written === undefined) continue;
    const before = text.slice(Math.max(0, start - LABEL_REACH), start);
    at = start + written.length;
    if (!NETWORK.test(text.slice(at, at + 2)) && isPublicV4(written, before))
      report({ start, end: at });
  }
  let next = text.indexOf(':');
  while (next >= 0) {
    const at = next;
    next = text.indexOf(':', at + 1);
    if (next < 0 || next - at > GROUP_MAX) continue;
    const start = groupStart(text, at, isHex);
    const written = /[\w:.]/.test(text[start - 1] ?? ' ') ? undefined : matchAt(V6, text, start);
    if (written === undefined) continue;
    next = text.indexOf(':', start + written.length);
    const address = written.replace(/[.:]+$/, (end) => (end.startsWith('::') ? '::' : ''));
    if (isPublicV6(address)) report({ start, end: start + address.length });
  }
}

function groupStart(text: string, at: number, isPart: (unit: number) => boolean): number {
  let start = at;
  while (at - start < GROUP_MAX && isPart(text.charCodeAt(start - 1))) start--;
  return start;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function isPublicV4(written: string, before: string): boolean {
  const parts = written.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  if (parts.some((part) => part > 255) || /(?:^|\.)0\d/.test(written)) return false;
  if (isReservedV4(a, b, c) || RESOLVERS.has(written) || (c === 0 && d === 0)) return false;
  // 1.2.3.4 and 2.2.2.2 are typed by hand.
  if (b - a === c - b && c - b === d - c) return false;
  if (ADDRESS_WORD.test(before)) return true;
  return parts.some((part) => part >= SMALL) && !NO_ADDRESS.test(before);
}

/** Private, shared, local, for tests and manuals, for groups, and unused. */
function isReservedV4(a: number, b: number, c: number): boolean {
  if (a === 0 || a === 10 || a === 127 || a >= 224) return true;
  if (a === 100) return b >= 64 && b < 128;
  if (a === 169) return b === 254;
  if (a === 172) return b >= 16 && b < 32;
  if (a === 192) return b === 168 || (b === 0 && (c === 0 || c === 2));
  if (a === 198) return b === 18 || b === 19 || (b === 51 && c === 100);
  return a === 203 && b === 0 && c === 113;
}

const GROUPS = 8;
/** Loopback, private, local and group addresses, and those of manuals. */
const RESERVED_V6 =
  /^(?:::1?$|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:|ff[0-9a-f]{2}:|2001:0?db8:|64:ff9b:|3fff:)/i;

function isPublicV6(address: string): boolean {
  if (RESERVED_V6.test(address) || !/\d/.test(address)) return false;
  const mapped = /^::ffff:(\d[\d.]*)$/i.exec(address)?.[1];
  if (mapped !== undefined) return /^\d+(?:\.\d+){3}$/.test(mapped) && isPublicV4(mapped, 'ip: ');
  if (address.includes('.')) return false;
  const halves = address.split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  if (halves.length > 2 || groups.some((group) => group === '' || group.length > 4)) return false;
  // Pairs of digits are the address of a network card or a fingerprint.
  if (!groups.some((group) => group.length > 2)) return false;
  return halves.length === 1
    ? groups.length === GROUPS
    : groups.length >= 3 && groups.length < GROUPS;
}
