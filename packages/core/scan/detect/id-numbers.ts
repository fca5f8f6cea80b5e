// What makes a row of digits a number of its kind.

/** A card: a known prefix of the right length, Luhn's checksum, and not one digit over and over. */
export function isCard(digits: string): boolean {
  const known = CARDS.some(
    ({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits),
  );
  return known && new Set(digits).size > 1 && luhn(digits) && !/^(?:\d)0{11,}/.test(digits);
}

function luhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, place = 0; at >= 0; at--, place++) {
    const digit = digits.charCodeAt(at) - 0x30;
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The rules of the issuer: no area 000, 666 or 9xx, no group 00, no serial 0000. */
export function isSsn(digits: string): boolean {
  if (digits.length !== 9 || NOBODYS_SSN.has(digits)) return false;
  const area = digits.slice(0, 3);
  if (area === '000' || area === '666' || area.startsWith('9')) return false;
  return digits.slice(3, 5) !== '00' && digits.slice(5) !== '0000';
}

/** The length of the account that begins with these four, or 0. */
export function ibanLength(country: string): number {
  return Object.hasOwn(IBAN_LENGTHS, country) ? (IBAN_LENGTHS[country] ?? 0) : 0;
}

export function isIban(account: string): boolean {
  if (account.length !== ibanLength(account.slice(0, 2))) return false;
  let rest = 0;
  for (const char of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    if (Number.isNaN(value)) return false;
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

// Which numbers mean a person or an account: lengths, prefixes and checksums, as data.

/** What the number of a card begins with, and how long it is. */
const CARDS: readonly { readonly prefix: RegExp; readonly lengths: readonly number[] }[] = [
  { prefix: /^4/, lengths: [13, 16, 19] },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { prefix: /^3[47]/, lengths: [15] },
  { prefix: /^(?:6011|65|64[4-9])/, lengths: [16, 19] },
  { prefix: /^3(?:0[0-5]|[689])/, lengths: [14] },
  { prefix: /^35(?:2[89]|[3-8])/, lengths: [16] },
  { prefix: /^62/, lengths: [16, 17, 18, 19] },
  { prefix: /^(?:50|5[6-8]|6304|6759|676[123])/, lengths: [16, 18, 19] },
];

/** How cards are printed, in groups of digits. */
export const CARD_GROUPS: readonly string[] = [
  '4-4-4-4',
  '4-6-5',
  '4-6-4',
  '4-4-4-4-3',
  '4-4-5',
  '6-10',
];

/** The length of an account number in each country that has them. */
const IBAN_LENGTHS: Readonly<Record<string, number>> = {
  AD: 24,
  AE: 23,
  AL: 28,
  AT: 20,
  AZ: 28,
  BA: 20,
  BE: 16,
  BG: 22,
  BH: 22,
  BR: 29,
  BY: 28,
  CH: 21,
  CR: 22,
  CY: 28,
  CZ: 24,
  DE: 22,
  DK: 18,
  DO: 28,
  EE: 20,
  EG: 29,
  ES: 24,
  FI: 18,
  FO: 18,
  FR: 27,
  GB: 22,
  GE: 22,
  GI: 23,
  GL: 18,
  GR: 27,
  GT: 28,
  HR: 21,
  HU: 28,
  IE: 22,
  IL: 23,
  IQ: 23,
  IS: 26,
  IT: 27,
  JO: 30,
  KW: 30,
  KZ: 20,
  LB: 28,
  LC: 32,
  LI: 21,
  LT: 20,
  LU: 20,
  LV: 21,
  LY: 25,
  MC: 27,
  MD: 24,
  ME: 22,
  MK: 19,
  MR: 27,
  MT: 31,
  MU: 30,
  NL: 18,
  NO: 15,
  PK: 24,
  PL: 28,
  PS: 29,
  PT: 25,
  QA: 29,
  RO: 24,
  RS: 22,
  SA: 24,
  SC: 31,
  SE: 24,
  SI: 19,
  SK: 24,
  SM: 27,
  ST: 25,
  SV: 28,
  TL: 23,
  TN: 24,
  TR: 26,
  UA: 29,
  VA: 22,
  VG: 24,
  XK: 20,
};

/** Numbers that everybody knows to be nobody's. */
const NOBODYS_SSN: ReadonlySet<string> = new Set(['078051120', '219099999', '457555462']);

/** What a `+` and a number must begin with to be a telephone's. */
export const CALLING_CODE =
  /^(?:1[2-9]|2(?:0|7|[1-689]\d)|3(?:[0-469]|[578]\d)|4(?:[013-9]|2\d)|5(?:[1-8]|[09]\d)|6(?:[0-6]|[789]\d)|7|8(?:[1246]|[05789]\d)|9(?:[0-58]|[679]\d))/;

/** Domains that are set aside, and users that are nobody. */
export const RESERVED_DOMAIN =
  /(?:^|\.)(?:example\.(?:com|net|org)|example|test|invalid|localhost|local|internal)$/i;
export const NOBODY =
  /^(?:no-?reply|do-?not-?reply|git|user|username|you|name|someone|somebody|email|foo|me)$/i;
/** What looks like a domain and is the end of a file's name. */
export const FILE_ENDING =
  /\.(?:png|jpe?g|gif|svg|webp|avif|ico|css|s?js|ts|tsx|jsx|mjs|json|md|html?|py|rb|go|rs|java|sh|yml|yaml|toml|lock|txt|tgz|zip|so|dll|exe|map)$/i;
