// Whom the user means: those that they have named in this conversation, and their contacts.
import type { GuardrailsFile } from '@subluminal/contracts';
import { emailsIn, webAddressesIn } from '@subluminal/core/taint';
import { numbersIn, plainName, type Recipient } from './recipients.ts';

export type StewardContacts = GuardrailsFile['egress']['contacts'];

export interface KnownPeople {
  /** Whether the user has named it, or a contact has it. */
  isKnown(recipient: Recipient): boolean;
  isContact(value: string): boolean;
}

interface PeopleSources {
  readonly userWords: readonly string[];
  readonly contacts: StewardContacts;
  readonly hosts: readonly string[];
}

const WORDS_LENGTH_MAX = 262_144;
/** A number is the same without its country: these digits at its end. */
const TAIL_DIGITS = 9;
const DIALLED_DIGITS_MIN = 10;
/** A name shorter than this stands in too many texts by chance. */
const NAME_LENGTH_MIN = 2;
const SEPARATORS = /[\s"'`<>()[\]{}|,;]+/;

export function knownPeople({ userWords, contacts, hosts }: PeopleSources): KnownPeople {
  const words = userWords.join('\n').slice(-WORDS_LENGTH_MAX);
  const saidEmails = new Set(emailsIn(words).map(({ address }) => address));
  const saidNumbers = numbersIn(words);
  const saidHosts = hostsIn(words);
  const saidNames = ` ${plainWords(words)} `;
  const tokens = new Set(
    words.split(/[\s,;<>()"]+/).map((one) => plainName(one.replace(/[.:!?]+$/, ''))),
  );
  const book = contactBook(contacts);
  const isKnown = ({ kind, value }: Recipient): boolean => {
    switch (kind) {
      case 'email':
        return saidEmails.has(value) || book.isContact(value);
      case 'number':
        return [...saidNumbers, ...book.numbers].some((known) => isSameNumber(known, value));
      case 'host':
        return [...saidHosts].some((host) => isSameHost(value, host)) || isListed(hosts, value);
      case 'name':
        return (
          book.isContact(value) ||
          (hasAddress(value) ? tokens.has(value) : isSaid(saidNames, value))
        );
    }
  };
  return { isKnown, isContact: book.isContact };
}

/** What has an address in it and is more than that: each sign makes it another mailbox. */
function hasAddress(name: string): boolean {
  return name.includes('@');
}

function isSaid(words: string, name: string): boolean {
  const plain = plainWords(name).trim();
  return plain.length >= NAME_LENGTH_MIN && words.includes(` ${plain} `);
}

/** Words alone, one space between: `Send it to #General!` → `send it to general`. */
function plainWords(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[\s"'`<>()[\]{}|,;:!?@#*]+/g, ' ')
    .replaceAll(/\.(?= |$)/g, '')
    .replaceAll(/ +/g, ' ');
}

function contactBook(contacts: StewardContacts) {
  const emails = new Set<string>();
  const domains = new Set<string>();
  const names = new Set<string>();
  const numbers = new Set<string>();
  for (const contact of contacts) {
    names.add(plainName(contact.name));
    for (const email of contact.emails) {
      if (email.startsWith('*@')) domains.add(email.slice(2).toLowerCase());
      for (const { address } of emailsIn(email)) emails.add(address);
    }
    for (const handle of contact.handles) {
      const digits = numbersIn(handle);
      if (digits.length === 0) names.add(plainName(handle));
      for (const number of digits) numbers.add(number);
    }
  }
  const isContact = (value: string): boolean => {
    if (emails.has(value) || names.has(value)) return true;
    const [email] = emailsIn(value);
    if (email?.address === value && domains.has(email.host)) return true;
    return [...numbers].some((number) => isSameNumber(number, value));
  };
  return { isContact, numbers };
}

/** Two numbers with their countries are compared whole. */
function isSameNumber(left: string, right: string): boolean {
  if (!/^\+?\d+$/.test(right)) return false;
  const [one, other] = [international(left), international(right)];
  if (one === other) return true;
  if (one.startsWith('+') && other.startsWith('+')) return false;
  const digits = [one, other].map((number) => number.replace(/^\+/, ''));
  return digits.every(isDialled) && tailOf(digits[0]) === tailOf(digits[1]);
}

/** Long enough to be dialled as it is, or with the zero that stands for a country or a city. */
function isDialled(digits: string): boolean {
  return digits.length >= (digits.startsWith('0') ? TAIL_DIGITS : DIALLED_DIGITS_MIN);
}

function tailOf(digits = ''): string {
  return digits.slice(-TAIL_DIGITS);
}

function international(number: string): string {
  return number.replace(/^00/, '+');
}

function hostsIn(text: string): ReadonlySet<string> {
  const found = text
    .split(SEPARATORS)
    .flatMap((word) => webAddressesIn(word.replace(/[.!?]+$/, '')));
  return new Set(found.map(({ host }) => host));
}

/** The same host, with `www.` or without. */
function isSameHost(host: string, above: string): boolean {
  return host === above || host === `www.${above}` || `www.${host}` === above;
}

/** Whether a list of hosts has one: `example.com`, `*.example.com` for all below, `*`. */
export function isListed(hosts: readonly string[], host: string): boolean {
  return hosts.some((listed) => {
    const plain = listed.toLowerCase();
    if (plain === '*' || plain === host) return true;
    return plain.startsWith('*.') && host.endsWith(plain.slice(1));
  });
}
