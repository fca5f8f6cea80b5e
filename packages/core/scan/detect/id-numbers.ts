// What makes a row of digits a number of its kind.

/** A card: a known prefix of the right length, Luhn's checksum, and not one digit over and over. */
export function isCard(digits: string): boolean {
  const known = CARDS.some(
    ({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits),
  );
  return known && new Set(digits).size > 1 && luhn(digits);
}

/** Maestro's short cards are rare, and other numbers of their lengths are not. */
export function isRareCard(digits: string): boolean {
  return digits.length < 16 && !/^(?:[34]|2131|1800)/.test(digits);
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
  return IBAN_LENGTHS.get(country) ?? 0;
}

export function isIban(account: string): boolean {
  return account.length === ibanLength(account.slice(0, 2)) && hasIbanChecksum(account);
}

/** By ISO 7064: the first four behind the rest, letters as two digits, modulo 97. */
export function hasIbanChecksum(account: string): boolean {
  let rest = 0;
  for (const char of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

// Which numbers mean a person or an account: lengths, prefixes and checksums, as data.

/** What the number of a card begins with, and how long it is. */
const CARDS: readonly { readonly prefix: RegExp; readonly lengths: readonly number[] }[] = [
  { prefix: /^4/, lengths: [13, 16, 19] },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { prefix: /^220[0-4]/, lengths: [16, 19] },
  { prefix: /^3[47]/, lengths: [15] },
  { prefix: /^(?:6011|65|64[4-9])/, lengths: [16, 19] },
  { prefix: /^3(?:0[0-5]|095|[689])/, lengths: [14, 16, 19] },
  { prefix: /^35/, lengths: [16, 19] },
  { prefix: /^(?:2131|1800)/, lengths: [15] },
  { prefix: /^(?:62|81)/, lengths: [16, 17, 18, 19] },
  { prefix: /^(?:60|82)/, lengths: [16] },
  {
    prefix: /^(?:50|5[6-8]|0604|63(?:04|90)|67)/,
    lengths: [12, 13, 14, 15, 16, 17, 18, 19],
  },
];

/** How cards are printed, in groups of digits. */
export const CARD_GROUPS: readonly string[] = [
  '4-4-4-4',
  '4-6-5',
  '4-6-4',
  '4-4-4-4-3',
  '4-4-5',
  '6-10',
  '4-4-4-3',
  '4-4-4-1',
  '4-4-4',
  '4-4-4-4-2',
  '4-4-4-2',
  '6-13',
];

/** Each country that has account numbers, and how long they are. */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20
   EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30
   KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24
   PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22
   VG24 XK20`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Numbers that are well known and belong to no person. */
const NOBODYS_SSN: ReadonlySet<string> = new Set(['078051120', '219099999', '457555462']);

/** What a `+` and a number must begin with to be a telephone's. */
export const CALLING_CODE =
  /^(?:1[2-9]|2(?:0|7|[1-689]\d)|3(?:[0-469]|[578]\d)|4(?:[013-9]|2\d)|5(?:[1-8]|[09]\d)|6(?:[0-6]|[789]\d)|7|8(?:[1246]|[05789]\d)|9(?:[0-58]|[679]\d))/;

/** Domains that are reserved, and users that are no person. */
export const RESERVED_DOMAIN =
  /(?:^|\.)(?:example\.(?:com|net|org)|example|test|invalid|localhost|local|internal)$/i;
export const NOBODY =
  /^(?:no-?reply|do-?not-?reply|git|user|username|you|name|someone|somebody|email|foo|me)$/i;
/** What looks like a domain and is the end of a file's name. */
export const FILE_ENDING =
  /\.(?:png|jpe?g|gif|svg|webp|avif|ico|css|s?js|ts|tsx|jsx|mjs|json|md|html?|py|rb|go|rs|java|sh|yml|yaml|toml|lock|txt|tgz|zip|so|dll|exe|map)$/i;
