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
import type { Numerals, TextSurvey } from './survey.ts';
import type { Detection, DetectorHit } from './types.ts';

interface DigitGroup extends Range {
  readonly digits: string;
}

/** Groups that follow each other, `from` the first to `to` behind the last. */
interface NumberCandidate {
  readonly text: string;
  readonly groups: readonly DigitGroup[];
  readonly from: number;
  readonly to: number;
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
  range: Range,
  data: { label: string; score: number; value: string },
): DetectorHit {
  return { class: 'personal', rule, start: range.start, end: range.end, ...data };
}

function groupsOf(text: string, { start, end }: Range): DigitGroup[] {
  const groups: DigitGroup[] = [];
  for (let at = start; at < end; at++) {
    if (!isDigit(text, at)) continue;
    let to = at + 1;
    while (to < end && isDigit(text, to)) to++;
    groups.push({ start: at, end: to, digits: text.slice(at, to) });
    at = to;
  }
  return groups;
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0x30 && unit <= 0x39;
}

function numbersIn(text: string, numerals: Numerals): DetectorHit[] {
  const groups = groupsOf(text, numerals);
  const hits: DetectorHit[] = [];
  for (let from = 0; from < groups.length; ) {
    const hit = numberAt(text, groups, from);
    if (hit === undefined) from++;
    else {
      hits.push(hit.hit);
      from = hit.to;
    }
  }
  return hits;
}

/** The longest that these groups can be. */
function numberAt(text: string, groups: readonly DigitGroup[], from: number) {
  const last = Math.min(groups.length, from + GROUPS_MAX);
  let digits = 0;
  for (let at = from; at < last; at++) digits += groups[at]?.digits.length ?? 0;
  for (let to = last; to > from; to--) {
    const isLong = digits >= DIGITS_MIN && digits <= DIGITS_MAX;
    digits -= groups[to - 1]?.digits.length ?? 0;
    if (!isLong) continue;
    const candidate = { text, groups, from, to };
    const hit = cardOf(candidate) ?? ssnOf(candidate) ?? phoneOf(candidate);
    if (hit !== undefined) return { hit, to };
  }
  return undefined;
}

function spanOf({ groups, from, to }: NumberCandidate): Range & { readonly digits: string } {
  const digits = groups
    .slice(from, to)
    .map((group) => group.digits)
    .join('');
  return { start: groups[from]?.start ?? 0, end: groups[to - 1]?.end ?? 0, digits };
}

function shapeOf({ groups, from, to }: NumberCandidate): string {
  return groups
    .slice(from, to)
    .map(({ digits }) => digits.length)
    .join('-');
}

/** The sign between all the groups; nothing where they differ. */
function separatorOf({ text, groups, from, to }: NumberCandidate): string | undefined {
  let sign: string | undefined;
  for (let at = from + 1; at < to; at++) {
    const between = text.slice(groups[at - 1]?.end, groups[at]?.start);
    if (sign !== undefined && sign !== between) return undefined;
    sign = between;
  }
  return sign ?? '';
}

/** Neither inside a word nor a part of a longer row that is written the same way. */
function standsAlone(candidate: NumberCandidate, separator: string): boolean {
  const { text, groups, from, to } = candidate;
  const { start, end } = spanOf(candidate);
  if (WORD.test(text[start - 1] ?? ' ') || WORD.test(text[end] ?? ' ')) return false;
  // Not a part of a version, a date, a decimal or an id.
  const before = text.slice(Math.max(0, start - 2), start);
  if (/^(?:-\w|[.,/]\d)/.test(text.slice(end, end + 2)) || /\w-$|\d[.,/]$/.test(before))
    return false;
  if (separator === '') return true;
  const left = text.slice(groups[from - 1]?.end ?? start, start);
  const right = text.slice(end, groups[to]?.start ?? end);
  return (from === 0 || left !== separator) && (to >= groups.length || right !== separator);
}

function hasLabel({ text }: NumberCandidate, start: number, words: RegExp): boolean {
  return words.test(text.slice(Math.max(0, start - LABEL_REACH), start));
}

function cardOf(candidate: NumberCandidate): DetectorHit | undefined {
  const { digits, ...span } = spanOf(candidate);
  if (digits.length < 13 || digits.length > 19) return undefined;
  const single = candidate.to - candidate.from === 1;
  const separator = separatorOf(candidate);
  if (separator === undefined || (separator !== '' && separator !== ' ' && separator !== '-'))
    return undefined;
  if (!single && !CARD_GROUPS.includes(shapeOf(candidate))) return undefined;
  if (!standsAlone(candidate, separator) || !isCard(digits)) return undefined;
  const sure = !single || hasLabel(candidate, span.start, CARD_WORDS);
  return personal('card-number', span, {
    label: 'looks like the number of a payment card',
    score: sure ? 3 : 2,
    value: digits,
  });
}

function ssnOf(candidate: NumberCandidate): DetectorHit | undefined {
  const { digits, ...span } = spanOf(candidate);
  if (!isSsn(digits)) return undefined;
  const separator = separatorOf(candidate) ?? '?';
  const shape = shapeOf(candidate);
  const labelled = hasLabel(candidate, span.start, SSN_WORDS);
  const written = shape === '3-2-4' && (separator === '-' || (labelled && separator === ' '));
  if (!written && !(labelled && shape === '9')) return undefined;
  if (!standsAlone(candidate, separator)) return undefined;
  return personal('us-ssn', span, {
    label: 'looks like a US social security number',
    score: labelled ? 3 : 2,
    value: digits,
  });
}

function phoneOf(candidate: NumberCandidate): DetectorHit | undefined {
  const { text, to } = candidate;
  const { digits, ...span } = spanOf(candidate);
  const plus = text[span.start - 1] === '+' || text.slice(span.start - 2, span.start) === '+(';
  const labelled = hasLabel(candidate, span.start, PHONE_WORDS);
  const start = plus ? text.lastIndexOf('+', span.start) : span.start;
  const whole = to >= candidate.groups.length || (candidate.groups[to]?.start ?? 0) - span.end > 1;
  const international =
    plus && digits.length >= 8 && digits.length <= 15 && whole && CALLING_CODE.test(digits);
  const written = isPhoneWritten(candidate, labelled);
  if (!international && !written) return undefined;
  if (WORD.test(text[start - 1] ?? ' ') || WORD.test(text[span.end] ?? ' ')) return undefined;
  if (!international && !standsAlone(candidate, separatorOf(candidate) ?? '')) return undefined;
  if (plus && /[\d*/=)-] ?$/.test(text.slice(Math.max(0, start - 2), start))) return undefined;
  // 555-01xx is set aside for stories.
  const fictional = /55501\d\d$/.test(digits);
  return personal(
    'phone-number',
    { start, end: span.end },
    { label: 'looks like a telephone number', score: fictional ? 1 : 2, value: digits },
  );
}

/** As people in North America write it; with dots or without signs only behind a word. */
function isPhoneWritten(candidate: NumberCandidate, labelled: boolean): boolean {
  const { text, groups, from } = candidate;
  const { digits } = spanOf(candidate);
  const shape = shapeOf(candidate);
  const national = shape === '3-3-4' ? digits : digits.slice(1);
  const isNational = shape === '3-3-4' || (shape === '1-3-3-4' && digits.startsWith('1'));
  if (isNational && /^[2-9]\d{2}[2-9]\d{6}$/.test(national)) {
    const area = groups[from + (shape === '3-3-4' ? 0 : 1)];
    const bracketed = area !== undefined && text[area.start - 1] === '(' && text[area.end] === ')';
    return labelled || bracketed || separatorOf(candidate) === '-';
  }
  return (
    labelled &&
    digits.length >= 9 &&
    digits.length <= 12 &&
    candidate.to - from <= 4 &&
    shape.length > 1 &&
    !/^(?:19|20)\d{2}-/.test(shape)
  );
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
  return personal(
    'iban',
    { start: at, end },
    { label: 'looks like the number of a bank account', score: 3, value: account },
  );
}

function emailAt(text: string, at: number): DetectorHit | undefined {
  let start = at;
  while (start > 0 && at - start < LOCAL_MAX && LOCAL.test(text[start - 1] ?? '')) start--;
  while (start < at && /[.%'+-]/.test(text[start] ?? '')) start++;
  if (start === at || text[at - 1] === '.') return undefined;
  DOMAIN.lastIndex = 0;
  const domain = DOMAIN.exec(text.slice(at + 1, at + 1 + DOMAIN_MAX))?.[0].replace(/[.-]+$/, '');
  if (
    domain === undefined ||
    !TOP.test(domain) ||
    FILE_ENDING.test(domain) ||
    domain.includes('..')
  )
    return undefined;
  const end = at + 1 + domain.length;
  const local = text.slice(start, at);
  // In an address of the web it is a user, and `git@host:path` is a repository.
  if (
    text.slice(Math.max(0, start - 3), start).includes('//') ||
    (local === 'git' && text[end] === ':')
  )
    return undefined;
  const nobody = RESERVED_DOMAIN.test(domain) || NOBODY.test(local);
  return personal(
    'email',
    { start, end },
    {
      label: 'looks like an e-mail address',
      score: nobody ? 1 : 3,
      value: `${local}@${domain}`.toLowerCase(),
    },
  );
}

export const PERSONAL_RULES: readonly string[] = [
  'card-number',
  'us-ssn',
  'phone-number',
  'iban',
  'email',
];
