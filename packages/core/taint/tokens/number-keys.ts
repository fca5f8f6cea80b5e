// Numbers of phones, accounts and banks, however they are grouped.
import { hasIbanChecksum } from '../../scan/detect/id-numbers.ts';

/** Stands before the digits of a number that JSON has rounded: which ones it had is not known. */
export const ROUNDED = '~';
/** A number with fewer digits is exact. */
const ROUNDED_DIGITS_MIN = 16;
const NUMBER = /~?\d(?:[ ()./-]{0,3}\d){5,33}/g;
const IBAN = /\b[a-z]{2}\d{2}(?:[ -]?[a-z0-9]){11,40}/gi;
const IBAN_LENGTH_MIN = 15;
const IBAN_LENGTH_MAX = 34;
const PHONE_DIGITS_MIN = 7;
const PHONE_DIGITS_MAX = 15;
/** A group of this many digits is a number by itself. */
const GROUP_DIGITS_MIN = 6;
/** More groups than this are a table, not a number. */
const GROUPS_MAX = 8;
/** The end of a number that stays when it is written without its country. */
const TAIL_DIGITS = 9;

/** What was read is remembered; of what is sent, all under which it may have been read. */
export function* numberKeysIn(text: string, use: 'read' | 'sent' = 'read'): Generator<string> {
  for (const [match] of text.matchAll(NUMBER)) {
    yield* roundedKeys(match, use);
    for (const digits of readings(match)) {
      yield keyOf('number', digits);
      if (digits.length > TAIL_DIGITS) yield keyOf('number', digits.slice(-TAIL_DIGITS));
    }
  }
  for (const [match] of text.matchAll(IBAN)) {
    const iban = ibanAtStart(match);
    if (iban !== undefined) yield keyOf('identifier', iban);
  }
}

/**
 * Digits and a rounded number may be the same one when they round alike. Two texts are compared by
 * their digits alone: a rounded one stands on one side at least.
 */
function* roundedKeys(match: string, use: 'read' | 'sent'): Generator<string> {
  const digits = match.replace(/\D+/g, '').replace(/^0+/, '');
  if (digits.length < ROUNDED_DIGITS_MIN || Number.isSafeInteger(Number(digits))) return;
  const alike = BigInt(Number(digits)).toString();
  const isRounded = match.startsWith(ROUNDED);
  if (isRounded || use === 'sent') yield keyOf('number', `rounded ${alike}`);
  if (isRounded === (use === 'sent')) yield keyOf('number', `written ${alike}`);
}

/** Groups of digits side by side may be one number or several: each way to read them. */
function readings(match: string): ReadonlySet<string> {
  const groups = match.split(/\D+/).filter((group) => group !== '');
  if (groups.length > GROUPS_MAX) return new Set([groups.join(''), ...groups.filter(isNumber)]);
  const found = new Set([groups.join('')]);
  for (const [first, group] of groups.entries()) {
    if (isNumber(group)) found.add(group);
    let digits = group;
    for (const next of groups.slice(first + 1)) {
      digits += next;
      if (digits.length > PHONE_DIGITS_MAX) break;
      if (digits.length >= PHONE_DIGITS_MIN) found.add(digits);
    }
  }
  return found;
}

function isNumber(group: string): boolean {
  return group.length >= GROUP_DIGITS_MIN;
}

/** Words may follow without a sign between: the checksum tells where the number ends. */
function ibanAtStart(match: string): string | undefined {
  const compact = match.replace(/[ -]/g, '').toLowerCase();
  for (let end = IBAN_LENGTH_MIN; end <= Math.min(compact.length, IBAN_LENGTH_MAX); end++) {
    const iban = compact.slice(0, end);
    if (hasIbanChecksum(iban)) return iban;
  }
  return undefined;
}

/** What of a text is worth remembering. `command_part` is the beginning of a command line. */
export type TokenKind =
  | 'email'
  | 'url'
  | 'host'
  | 'path'
  | 'command'
  | 'command_part'
  | 'identifier'
  | 'number'
  | 'handle'
  | 'thing';

const KEY_LENGTH_MAX = 256;

/** What a value is remembered under. Both sides are cut at the same place. */
export function keyOf(kind: TokenKind, value: string): string {
  return `${kind}:${value.toLowerCase().slice(0, KEY_LENGTH_MAX)}`;
}
