// Whom a call would reach: addresses, numbers, handles and names in the arguments that servers take recipients by, and
// hosts of addresses. What cannot be read as a recipient counts as one that nobody has named.
import type { JsonObject } from '@subluminal/contracts';
import { isReading } from '@subluminal/core/surface';
import {
  compileTaint,
  emailsIn,
  leavesOf,
  shapesOf,
  type TaintLeaf,
  webAddressesIn,
} from '@subluminal/core/taint';

export interface OutgoingCall {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
}

export interface Recipient {
  readonly kind: 'email' | 'host' | 'number' | 'name';
  /** In one spelling. */
  readonly value: string;
}

export interface Outgoing {
  readonly recipients: readonly Recipient[];
  /** What is sent to them. */
  readonly texts: readonly string[];
  /** Of addresses: all that is asked of a host may carry something out. */
  readonly addresses: readonly string[];
  /** Whether others read it: it counts as a message. */
  readonly isMessage: boolean;
  /** False when there was more than could be looked at. */
  readonly isWhole: boolean;
}

const LIMITS = { charsMax: 1_048_576, nodesMax: 10_000 };
/** Servers of our own from which nothing leaves. */
export const LOCAL_SERVERS: readonly string[] = [
  ...['files', 'memory', 'contacts', 'reminders'],
  ...['skills', 'servers', 'toolsmith', 'config', 'agents'],
];
/** What is put among the drafts is sent by nobody yet. */
const KEPT: ReadonlySet<string> = new Set(['email.draft', 'email.search', 'email.read']);
const DEFAULT_SINKS = compileTaint();
const PHONE = /\+?\d(?:[ ()./-]{0,2}\d){5,16}/g;
/** Around an address, never in it. */
const IGNORED = /^[\s<>"(),;:[\]]+|[\s<>"(),;:[\]]+$/g;
const NAME_PARTS = /[,;\n]+/;
/** Words of a mail address around which nothing else is a name: `Ann <ann@example.com>`. */
const WITH_NAME = /^[^<>]*<([^<>]*)>\s*$/;

/** Whom a call reaches. */
export function recipientsOf(call: OutgoingCall): readonly Recipient[] {
  return outgoingOf(call).recipients;
}

export function outgoingOf(call: OutgoingCall): Outgoing {
  const { leaves, whole: isWhole } = leavesOf(call.args, LIMITS);
  const nothing = { recipients: [], texts: [], addresses: [], isMessage: false, isWhole: true };
  if (LOCAL_SERVERS.includes(call.server)) return nothing;
  const isKept = KEPT.has(`${call.server}.${call.tool}`);
  const isRead = isKept || isReading(call.tool);
  const people: Recipient[] = [];
  const addresses: string[] = [];
  const texts: string[] = [];
  for (const leaf of leaves.filter(({ isKey }) => !isKey)) {
    const sinks = sinksOf(call, leaf);
    const isAddress = !isKept && sinks.has('url') && webAddressesIn(leaf.text).length > 0;
    if (isAddress) addresses.push(leaf.text);
    if (isRead) continue;
    if (sinks.has('recipient')) people.push(...recipientsIn(leaf.text));
    else if (!isAddress) texts.push(leaf.text);
  }
  const hosts = addresses
    .flatMap((address) => webAddressesIn(address))
    .map(({ host }): Recipient => ({ kind: 'host', value: host }));
  const isMessage = people.length > 0;
  return { recipients: [...people, ...hosts], texts, addresses, isMessage, isWhole };
}

function sinksOf(call: OutgoingCall, { path, text }: TaintLeaf): ReadonlySet<string> {
  return new Set([...DEFAULT_SINKS.sinksAt(call, path), ...shapesOf(text)]);
}

/** All recipients that one field names: a list of addresses, numbers and names. */
function recipientsIn(field: string): readonly Recipient[] {
  return field
    .slice(0, LIMITS.charsMax)
    .split(NAME_PARTS)
    .flatMap((part) => (part.trim() === '' ? [] : recipientsInPart(part)));
}

function recipientsInPart(part: string): readonly Recipient[] {
  const emails = emailsIn(part).map(
    ({ address }): Recipient => ({ kind: 'email', value: address }),
  );
  // A name beside an address is only shown; but an address in the name may be what a mail program uses.
  if (emails.length > 0 && isOnlyAddress(part)) return emails;
  const numbers = numbersIn(part).map((value): Recipient => ({ kind: 'number', value }));
  const isOnlyNumber = numbers.length === 1 && part.replaceAll(PHONE, '').trim() === '';
  if (emails.length === 0 && isOnlyNumber) return numbers;
  return [...emails, { kind: 'name', value: plainName(part) }];
}

/** Telephone numbers, without what stands between their digits. */
export function numbersIn(text: string): readonly string[] {
  return [...text.matchAll(PHONE)].map(([match]) => match.replaceAll(/[^+\d]/g, ''));
}

/** `ann@example.com`, or `Ann <ann@example.com>`: nothing is left that could be a recipient as well. */
function isOnlyAddress(part: string): boolean {
  const [, bracketed] = WITH_NAME.exec(part) ?? [];
  const address = (bracketed ?? part).replaceAll(IGNORED, '');
  const isOneWord = !/\s/.test((bracketed ?? part).trim());
  return isOneWord && isPlain(address) && emailsIn(address).length === 1;
}

/** Only signs of a plain address: nothing unseen, no route, no comment. */
function isPlain(address: string): boolean {
  return /^[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}.-]{1,253}$/u.test(address);
}

/** As names are compared: without signs of channels, in one case. */
export function plainName(text: string): string {
  return text
    .normalize('NFC')
    .trim()
    .replace(/^[@#](?=[^@]*$)/, '')
    .replaceAll(/\s+/g, ' ')
    .toLowerCase();
}
