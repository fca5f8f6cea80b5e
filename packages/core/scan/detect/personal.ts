// Cards, social security numbers, accounts, telephones and e-mail addresses. A number counts by its
// checksum or its rules, and by how it is written; a word before it makes it sure.
import type { Range } from '../types.ts';
import {
  CALLING_CODE,
  CARD_GROUPS,
  FILE_ENDING,
  ibanLength,
  isCard,
  isIban,
  isSsn,
  NOBODY,
  RESERVED_DOMAIN,
} from './id-numbers.ts';
import type { TextSurvey } from './survey.ts';
import type { Detection, DetectorHit } from './types.ts';

interface DigitGroup extends Range {
  readonly digits: string;
}

/** Groups of digits that follow each other and may be one number. */
interface NumberCandidate extends Range {
  readonly text: string;
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
const CARD_WORDS = /\b(?:card|visa|mastercard|amex|credit|debit|pan|cvv|cvc)\b/i;
const SSN_WORDS = /\b(?:ssn|social[ _-]?security|tax[ _-]?id|tin|itin)\b/i;
const PHONE_WORDS =
  /(?:\b|_)(?:phone|tel|telephone|mobile|cell|fax|call(?: me)?|sms|whatsapp|dial|hotline)\b/i;
const LOCAL_MAX = 64;
const DOMAIN_MAX = 253;
const GROUPS_MAX = 5;
const DIGITS_MIN = 8;
const DIGITS_MAX = 19;
const LOCAL = /[\w.%+'-]/;
const DOMAIN = /[A-Za-z0-9.-]+/y;
const TOP = /\.[A-Za-z]{2,24}$/;
const WORD = /[A-Za-z0-9_]/;
const ACCOUNT = /[A-Z]{2}\d{2}(?:[A-Z0-9]| (?=[A-Z0-9])){11,40}/y;

export function detectPersonal(detection: Detection, seen: TextSurvey): void {
  const { view, found, meter } = detection;
  const { text } = view;
  for (const number of seen.numbers) {
    meter.steps += number.end - number.start;
    for (const hit of numbersIn(text, number)) found(hit);
  }
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

function numbersIn(text: string, { start, end }: Range): DetectorHit[] {
  const groups = [...text.slice(start, end).matchAll(/\d+/g)].map(({ 0: digits, index }) => {
    return { start: start + index, end: start + index + digits.length, digits };
  });
  const hits: DetectorHit[] = [];
  for (let from = 0; from < groups.length; ) {
    const found = numberAt(text, groups, from);
    if (found !== undefined) hits.push(found.hit);
    from = found?.to ?? from + 1;
  }
  return hits;
}

/** The longest number that these groups can be. */
function numberAt(text: string, groups: readonly DigitGroup[], from: number) {
  const last = Math.min(groups.length, from + GROUPS_MAX);
  let count = 0;
  for (let at = from; at < last; at++) count += groups[at]?.digits.length ?? 0;
  for (let to = last; to > from; to--) {
    const isLong = count >= DIGITS_MIN && count <= DIGITS_MAX;
    count -= groups[to - 1]?.digits.length ?? 0;
    if (!isLong) continue;
    const own = groups.slice(from, to);
    const candidate = {
      text,
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

function hasLabel({ text, start }: NumberCandidate, words: RegExp): boolean {
  return words.test(text.slice(Math.max(0, start - LABEL_REACH), start));
}

function cardOf(candidate: NumberCandidate): DetectorHit | undefined {
  const { digits: value, shape, groups, separator } = candidate;
  if (value.length < 13 || value.length > 19) return undefined;
  if (separator !== '' && separator !== ' ' && separator !== '-') return undefined;
  const isSingle = groups.length === 1;
  if (!isSingle && !CARD_GROUPS.includes(shape)) return undefined;
  if (!standsAlone(candidate) || !isCard(value)) return undefined;
  const label = 'looks like the number of a payment card';
  const score = !isSingle || hasLabel(candidate, CARD_WORDS) ? 3 : 2;
  return personal('card-number', candidate, { label, score, value });
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
  const international = plus && value.length <= 15 && whole && CALLING_CODE.test(value);
  if (!international && !isPhoneWritten(candidate)) return undefined;
  if (isInWord(candidate, start)) return undefined;
  if (!international && !standsAlone(candidate)) return undefined;
  if (plus && /[\d*/=)-] ?$/.test(text.slice(Math.max(0, start - 2), start))) return undefined;
  // 555-01xx is set aside for stories.
  const score = /55501\d\d$/.test(value) ? 1 : 2;
  const label = 'looks like a telephone number';
  return personal('phone-number', { start, end }, { label, score, value });
}

/** As people in North America write it; with dots or without signs only behind a word. */
function isPhoneWritten(candidate: NumberCandidate): boolean {
  const { text, digits, shape, groups, separator } = candidate;
  const labelled = hasLabel(candidate, PHONE_WORDS);
  const isNational = shape === '3-3-4' || (shape === '1-3-3-4' && digits.startsWith('1'));
  if (isNational && /^[2-9]\d{2}[2-9]\d{6}$/.test(digits.slice(-10))) {
    const area = groups.at(-3);
    const bracketed = area !== undefined && text[area.start - 1] === '(' && text[area.end] === ')';
    return labelled || bracketed || separator === '-';
  }
  const fits = digits.length >= 9 && digits.length <= 12 && groups.length <= 4;
  return labelled && fits && shape.length > 1;
}

function accountAt(text: string, at: number): DetectorHit | undefined {
  ACCOUNT.lastIndex = at;
  const written = ACCOUNT.exec(text)?.[0];
  const length = ibanLength(text.slice(at, at + 2));
  if (written === undefined || length === 0) return undefined;
  let account = '';
  let end = at;
  for (const char of written) {
    if (account.length === length) break;
    end++;
    if (char !== ' ') account += char;
  }
  if (!isIban(account) || WORD.test(text[end] ?? ' ')) return undefined;
  const label = 'looks like the number of a bank account';
  return personal('iban', { start: at, end }, { label, score: 3, value: account });
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

export const PERSONAL_RULES = ['card-number', 'us-ssn', 'phone-number', 'iban', 'email'] as const;
