// Addresses of resources that lead out of what a pattern means. How a server reads an address is not
// known, so it is read in every way that one is known to.
import { compatible } from './spelling.ts';

/** An address that is encoded more often than this counts as one that climbs. */
const ROUNDS_MAX = 4;
/** A longer address is not read, and counts as one that climbs. */
const LENGTH_MAX = 65_536;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u;
const HIDDEN_ALL = new RegExp(HIDDEN.source, 'gu');
/** Overlong bytes, which are no valid UTF-8: a way to hide ASCII. */
const OVERLONG = /%(?:c[01]|e0%[89]|f0%8)/i;
const DOTS = /(?:^|[\\/:;?#&=])\.\.?(?:[\\/;?#&]|$)/;

/** Whether an address has `.` or `..` as a part, however it is written. */
export function climbs(uri: string): boolean {
  // An address has neither NUL nor invisible characters, not even encoded.
  if (uri.length > LENGTH_MAX) return true;
  if (HIDDEN.test(uri) || /%(?:25)*00|%u0000/i.test(uri)) return true;
  let text = uri;
  for (let round = 0; round <= ROUNDS_MAX; round++) {
    if (OVERLONG.test(text) || DOTS.test(plain(text))) return true;
    const decoded = decodedOnce(text);
    if (decoded === text) return false;
    text = decoded;
  }
  return true;
}

/** Without what is skipped when an address is read, and with look-alikes as what they stand for. */
function plain(text: string): string {
  return compatible(text)
    .replace(HIDDEN_ALL, '')
    .replace(/\s+/gu, '')
    .replace(/[\u3002\u2024]/gu, '.')
    .replace(/[\u2044\u2215\u29f8\u2571]/gu, '/')
    .replace(/[\u2216\u29f5\u29f9\ufe68]/gu, '\\');
}

function decodedOnce(text: string): string {
  return text
    .replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/(?:%[0-9a-f]{2})+/gi, decodedRun);
}

function decodedRun(run: string): string {
  try {
    return decodeURIComponent(run);
  } catch {
    // What is no UTF-8 stays, beside what is plain ASCII.
    return run.replace(/%[0-7][0-9a-f]/gi, (code) =>
      String.fromCharCode(Number.parseInt(code.slice(1), 16)),
    );
  }
}
