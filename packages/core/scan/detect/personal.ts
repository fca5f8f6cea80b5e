// Cards, social security numbers, accounts, telephones, e-mail and Internet addresses. A number counts by its
// checksum or its rules, and by how it is written; a word before it makes it sure.
import type { Range } from '../types.ts';
import {
  CALLING_CODE,
  CARD_GROUPS,
  FILE_ENDING,
  ibanLength,
  isCard,
  isIban,
  isRareCard,
  isSsn,
  NOBODY,
  RESERVED_DOMAIN,
} from './id-numbers.ts';
import { detectAddresses } from './ip-addresses.ts';
import type { TextSurvey } from './survey.ts';
import type { Detection, DetectorHit } from './types.ts';

interface DigitGroup extends Range {
  readonly digits: string;
}

/** Groups of digits that follow each other and may be one number. */
interface NumberCandidate extends Range {
  readonly text: string;
  readonly field: string | undefined;
  readonly digits: string;
  /** How many digits each group has: `4-4-4-4`. */
  readonly shape: string;
  readonly groups: readonly DigitGroup[];
  readonly before: DigitGroup | undefined;
  readonly behind: DigitGroup | undefined;
  /** The sign between all the groups; undefined where they differ. */
  readonly separator: string | undefined;
}

const LABEL_REACH = 40;
const CARD_WORDS =
  /(?:\b|_)(?:card|visa|mastercard|maestro|amex|credit|debit|pan|cvv|cvc|cc)(?:\b|_)/i;
/** What is numbered so is no card, whatever its checksum says. */
const ID_WORDS =
  /(?:\b|_)(?:ids?|order|tracking|snowflake|invoice|reference|ticket|serial|batch|sku|ean|gtin|imei|timestamp|tweet)(?:\b|_)[^\n]{0,12}$/i;
/** What stands behind the number of a card, or of a telephone. */
const CARD_BEHIND = /^[\s,;|]{1,3}(?:exp|valid|cvv|cvc|\d\d\/\d\d)/i;
const PHONE_BEHIND = /^[\s,;|(]{1,3}(?:anruf|mobile?|cell|home|work|fax|office)/i;
const SSN_WORDS = /\b(?:ssn|social[ _-]?security|tax[ _-]?id|tin|itin)\b/i;
const PHONE_WORDS =
  /(?:\b|_)(?:(?:tele)?phones?|tel|t[eé]l[eé]phone|telefono?|tel[eé]fon[oe]?|mobile?|m[oó]vil|celular|handy|cell(?!_type)|fax|call(?: me)?|anruf\w{0,3}|sms|whatsapp|dial|hotline|contact|(?:my|his|her|their|work|home) number(?: is)?)(?![a-z])|电话|電話|手机|携帯|전화|тел/i;
const LOCAL_MAX = 64;
const DOMAIN_MAX = 253;
const GROUPS_MAX = 8;
const DIGITS_MIN = 7;
const DIGITS_MAX = 19;
/** What looking at one number costs, in units of text. */
const NUMBER_STEPS = 512;
const LOCAL = /[\w.%+'-]/;
const DOMAIN = /[A-Za-z0-9.-]+/y;
const TOP = /\.[A-Za-z]{2,24}$/;
const WORD = /[A-Za-z0-9_]/;
const ACCOUNT = /[A-Z]{2}\d{2}(?:[A-Z0-9]|[ -](?=[A-Z0-9])){11,48}/iy;

export function detectPersonal(detection: Detection, seen: TextSurvey): void {
  const { view, found, meter } = detection;
  const { text } = view;
  const scanned = { text, field: detection.field, meter };
  for (const number of seen.numbers) {
    meter.steps += number.end - number.start;
    for (const hit of numbersIn(scanned, number)) found(hit);
  }
  if (seen.hasDigits) detectAddresses(detection);
  for (const at of seen.accounts) {
    meter.steps += DOMAIN_MAX;
    const hit = accountAt(text, at);
    if (hit !== undefined) found(hit);
  }
  for (const at of seen.ats) {
    meter.steps += LOCAL_MAX;
    const hit = emailAt(text, at);
    if (hit !== undefined) found(hit);
  }
}

function personal(
  rule: string,
  { start, end }: Range,
  data: { label: string; score: number; value: string },
): DetectorHit {
  return { class: 'personal', rule, start, end, ...data };
}

type ScannedField = Pick<NumberCandidate, 'text' | 'field'> & Pick<Detection, 'meter'>;

function numbersIn(scanned: ScannedField, { start, end }: Range): DetectorHit[] {
  const { text, meter } = scanned;
  // Dates are what most rows of digits are.
  if (end - start === 10 && text[start + 4] === '-' && text[start + 7] === '-') return [];
  const groups = [...text.slice(start, end).matchAll(/\d+/g)].map(({ 0: digits, index }) => {
    return { start: start + index, end: start + index + digits.length, digits };
  });
  const hits: DetectorHit[] = [];
  for (let from = 0; from < groups.length && meter.steps <= meter.stepsMax; ) {
    const found = numberAt(scanned, groups, from);
    if (found !== undefined) hits.push(found.hit);
    from = found?.to ?? from + 1;
  }
  return hits;
}

/** The longest number that these groups can be. */
function numberAt(scanned: ScannedField, groups: readonly DigitGroup[], from: number) {
  const last = Math.min(groups.length, from + GROUPS_MAX);
  let count = 0;
  for (let at = from; at < last; at++) count += groups[at]?.digits.length ?? 0;
  for (let to = last; to > from; to--) {
    const isLong = count >= DIGITS_MIN && count <= DIGITS_MAX;
    count -= groups[to - 1]?.digits.length ?? 0;
    if (!isLong || isInsideRow(scanned.text, groups, { start: from, end: to })) continue;
    scanned.meter.steps += NUMBER_STEPS;
    const own = groups.slice(from, to);
    const { text, field } = scanned;
    const candidate = {
      text,
      field,
      start: own[0]?.start ?? 0,
      end: own.at(-1)?.end ?? 0,
      digits: own.map(({ digits }) => digits).join(''),
      shape: own.map(({ digits }) => digits.length).join('-'),
      groups: own,
      before: groups[from - 1],
      behind: groups[to],
      separator: separatorOf(text, own),
    };
    const hit = cardOf(candidate) ?? ssnOf(candidate) ?? phoneOf(candidate);
    if (hit !== undefined) return { hit, to };
  }
  return undefined;
}

/** A part of a longer row with one sign between all groups, such as a table, is no number of its own. */
function isInsideRow(text: string, groups: readonly DigitGroup[], { start, end }: Range): boolean {
  const signBefore = (at: number) => text.slice(groups[at - 1]?.end, groups[at]?.start);
  if (end - start < 2 || text[(groups[start]?.start ?? 0) - 1] === '+') return false;
  const sign = signBefore(start + 1);
  for (let at = start + 2; at < end; at++) if (signBefore(at) !== sign) return false;
  return (
    (start > 0 && signBefore(start) === sign) || (end < groups.length && signBefore(end) === sign)
  );
}

function separatorOf(text: string, [first, ...rest]: readonly DigitGroup[]): string | undefined {
  let end = first?.end;
  const signs = rest.map((group) => {
    const sign = text.slice(end, group.start);
    end = group.end;
    return sign;
  });
  const [sign = ''] = signs;
  return signs.every((other) => other === sign) ? sign : undefined;
}

function isInWord({ text, end }: NumberCandidate, start: number): boolean {
  return WORD.test(text[start - 1] ?? ' ') || WORD.test(text[end] ?? ' ');
}

/** Neither inside a word nor a part of a longer row that is written the same way. */
function standsAlone(candidate: NumberCandidate): boolean {
  const { text, start, end, separator = '', before, behind } = candidate;
  if (isInWord(candidate, start)) return false;
  // Not a part of a version, a date, a decimal or an id.
  if (/^(?:-\w|[.,/]\d)/.test(text.slice(end, end + 2))) return false;
  if (/\w-$|\d[.,/]$/.test(text.slice(Math.max(0, start - 2), start))) return false;
  if (separator === '') return true;
  const isLeft = before !== undefined && text.slice(before.end, start) === separator;
  const isRight = behind !== undefined && text.slice(end, behind.start) === separator;
  return !isLeft && !isRight;
}

function hasLabel({ text, field, start }: NumberCandidate, words: RegExp): boolean {
  const before = text.slice(Math.max(0, start - LABEL_REACH), start);
  return words.test(before) || (field !== undefined && words.test(field));
}

function cardOf(candidate: NumberCandidate): DetectorHit | undefined {
  const { digits: value, shape, groups, separator } = candidate;
  if (value.length < 12 || value.length > 19) return undefined;
  if (separator !== '' && separator !== ' ' && separator !== '-') return undefined;
  const isSingle = groups.length === 1;
  if (!isSingle && !CARD_GROUPS.includes(shape)) return undefined;
  if (!standsAlone(candidate) || !isCard(value)) return undefined;
  const label = 'looks like the number of a payment card';
  const labelled =
    hasLabel(candidate, CARD_WORDS) ||
    CARD_BEHIND.test(candidate.text.slice(candidate.end, candidate.end + LABEL_REACH));
  if (!labelled && isRareCard(value)) return undefined;
  const isId = isSingle && !labelled && isCalledId(candidate);
  const score = isId ? 1 : !isSingle || labelled ? 3 : 2;
  return personal('card-number', candidate, { label, score, value });
}

/** By the words before it, or by the name of the field that holds it and nothing else. */
function isCalledId({ text, field, start, end }: NumberCandidate): boolean {
  if (ID_WORDS.test(text.slice(Math.max(0, start - LABEL_REACH), start))) return true;
  return field !== undefined && end - start === text.length && ID_WORDS.test(field);
}

function ssnOf(candidate: NumberCandidate): DetectorHit | undefined {
  const { digits: value, shape, separator } = candidate;
  if (!isSsn(value)) return undefined;
  const labelled = hasLabel(candidate, SSN_WORDS);
  const written = shape === '3-2-4' && (separator === '-' || (labelled && separator === ' '));
  if (!written && !(labelled && shape === '9')) return undefined;
  if (!standsAlone(candidate)) return undefined;
  const label = 'looks like a US social security number';
  return personal('us-ssn', candidate, { label, score: labelled ? 3 : 2, value });
}

function phoneOf(candidate: NumberCandidate): DetectorHit | undefined {
  const { text, digits: value, end, behind } = candidate;
  const before = text.slice(Math.max(0, candidate.start - 2), candidate.start);
  const plus = before.endsWith('+') || before === '+(';
  const start = plus ? text.lastIndexOf('+', candidate.start) : candidate.start;
  const whole = behind === undefined || behind.start - end > 1;
  const isPlain = !text.slice(candidate.start, end).includes('/');
  const international = plus && isPlain && value.length <= 15 && whole && CALLING_CODE.test(value);
  if (!international && !isNational(candidate)) return undefined;
  const isExtended = EXTENSION.test(text.slice(end, end + 12));
  if (!isExtended && isInWord(candidate, start)) return undefined;
  if (!international && !isExtended && !standsAlone(candidate)) return undefined;
  if (plus && /[\d*/=)-] ?$/.test(text.slice(Math.max(0, start - 2), start))) return undefined;
  const label = 'looks like a telephone number';
  return personal('phone-number', { start, end }, { label, score: 2, value });
}

const EXTENSION = /^ ?(?:x|ext\.?) ?\d{1,6}(?!\w)/i;
const NORTH_AMERICAN = /^[2-9]\d{2}[2-9]\d{6}$/;

/** As people write it at home: in groups, and without a word beside it only in some. */
function isNational(candidate: NumberCandidate): boolean {
  const { text, end, digits, shape, groups, separator } = candidate;
  const behind = text.slice(end, end + LABEL_REACH);
  const isLabelled = () => hasLabel(candidate, PHONE_WORDS) || PHONE_BEHIND.test(behind);
  if (isPhoneLike(candidate) && isLabelled()) return true;
  if (groups.length < 2 || digits.length < 9) return false;
  if (/^(?:(?:1|001)-)?3-3-4$/.test(shape)) {
    if (isBracketed(candidate, groups.at(-3)) || EXTENSION.test(behind)) return true;
    return separator !== undefined && NORTH_AMERICAN.test(digits.slice(-10));
  }
  if (shape === '1-3-3-2-2') return isBracketed(candidate, groups[1]);
  if (/^00[1-9]/.test(digits)) {
    const isLong = digits.length >= 11 && (groups[0]?.digits.length ?? 0) > 1;
    return isLong && separator !== '.' && CALLING_CODE.test(digits.slice(2));
  }
  return hasTrunkZero(candidate);
}

function isBracketed({ text }: NumberCandidate, group: DigitGroup | undefined): boolean {
  return group !== undefined && text[group.start - 1] === '(' && text[group.end] === ')';
}

/** Behind a word such as "phone": no date, no decimal and no row of the same digits. */
function isPhoneLike({ digits, shape, separator }: NumberCandidate): boolean {
  // 555-01xx is set aside for stories.
  if (/^(?:4-2-2|2-2-4)$/.test(shape) || /^55501..$/.test(digits)) return false;
  if (new Set(digits).size < 3) return false;
  if (digits.length > (digits.startsWith('00') ? 15 : 13)) return false;
  return digits.length > DIGITS_MIN || separator === ' ' || separator === '-';
}

/** `030 901820`, `(01234) 567890`, `01 23 45 67 89`, `090-1234-5678`, `08-123 456 78`. */
function hasTrunkZero(candidate: NumberCandidate): boolean {
  const { text, digits, shape, groups, separator } = candidate;
  const [first, second, ...rest] = groups;
  if (!/^0[1-9]/.test(digits) || digits.length > 12 || groups.length > 5) return false;
  if (first === undefined || first.digits.length < 2 || first.digits.length > 6) return false;
  if (groups.some((group) => group.digits.length < 2)) return false;
  if (isBracketed(candidate, first)) return true;
  if (shape === '2-2-2-2-2') return separator !== undefined;
  // Dates, and postal codes of the United States.
  if (/^(?:2-2-4|5-4$)/.test(shape)) return false;
  if (shape.startsWith('2-2')) return shape === '2-2-3-4' && separator === ' ';
  const isDashed = rest.length > 0 && text.slice(first.end, second?.start) === '-';
  return separator === ' ' || separator === '-' || (separator === undefined && isDashed);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Where its second to fourth groups start. */
const UUID_GROUPS = [9, 14, 19];

/** The rest of a UUID may look like an account, and has its checksum once in a hundred times. */
function isInUuid(text: string, at: number): boolean {
  return (
    text[at - 1] === '-' &&
    UUID_GROUPS.some((from) => UUID.test(text.slice(Math.max(0, at - from), at - from + 36)))
  );
}

function accountAt(text: string, at: number): DetectorHit | undefined {
  if (isInUuid(text, at)) return undefined;
  ACCOUNT.lastIndex = at;
  const written = ACCOUNT.exec(text)?.[0];
  const length = ibanLength(text.slice(at, at + 2).toUpperCase());
  if (written === undefined || length === 0) return undefined;
  let account = '';
  let end = at;
  for (const char of written) {
    if (account.length === length) break;
    end++;
    if (char !== ' ' && char !== '-') account += char.toUpperCase();
  }
  if (!isIban(account) || WORD.test(text[end] ?? ' ')) return undefined;
  const label = 'looks like the number of a bank account';
  const score = written === written.toUpperCase() ? 3 : 2;
  return personal('iban', { start: at, end }, { label, score, value: account });
}

function emailAt(text: string, at: number): DetectorHit | undefined {
  let start = at;
  while (start > 0 && at - start < LOCAL_MAX && LOCAL.test(text[start - 1] ?? '')) start--;
  while (start < at && /[.%'+-]/.test(text[start] ?? '')) start++;
  if (start === at || text[at - 1] === '.') return undefined;
  DOMAIN.lastIndex = 0;
  const domain = DOMAIN.exec(text.slice(at + 1, at + 1 + DOMAIN_MAX))?.[0].replace(/[.-]+$/, '');
  if (domain === undefined || !TOP.test(domain) || FILE_ENDING.test(domain)) return undefined;
  if (domain.includes('..')) return undefined;
  const end = at + 1 + domain.length;
  const local = text.slice(start, at);
  // In an address of the web it is a user, and `git@host:path` is a repository.
  if (text.slice(Math.max(0, start - 3), start).includes('//')) return undefined;
  if (local === 'git' && text[end] === ':') return undefined;
  const isNobody = RESERVED_DOMAIN.test(domain) || NOBODY.test(local);
  const label = 'looks like an e-mail address';
  const value = `${local}@${domain}`.toLowerCase();
  return personal('email', { start, end }, { label, score: isNobody ? 1 : 3, value });
}

export const PERSONAL_RULES = [
  'card-number',
  'us-ssn',
  'phone-number',
  'iban',
  'email',
  'ip-address',
] as const;
