// What makes a row of digits a number of its kind.
import { CARDS, IBAN_LENGTHS, NOBODYS_SSN } from './rules/numbers.ts';

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
