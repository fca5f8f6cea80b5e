// The escapes that hide a character: how each is read.
import { restLength } from '../../json/text.ts';
import type { Range, Scanned } from '../types.ts';
import { type Traced, Tracer } from './traced-text.ts';

export interface Escape {
  /** The character's number; of a byte, its value. */
  readonly point: number;
  readonly end: number;
  /** It is a byte, which may be a part of a character in UTF-8. */
  readonly isByte: boolean;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const POINT_MAX = 0x10_ffff;
const SIMPLE: ReadonlyMap<string, number> = new Map(
  Array.from('nrtbfv\n\r"\'`/\\', (letter, index) => {
    return [letter, '\n\r\t\b\f\v\n\r"\'`/\\'.charCodeAt(index)];
  }),
);
/** The references that HTML has a name for, and at the end of each the character. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['nbsp', ' '],
  ['tab', '\t'],
  ['newline', '\n'],
  ...`amp& lt< gt> quot" apos' sol/ bsol\\ plus+ equals= num# dollar$ percnt% ast* midast*
     commat@ excl! lpar( rpar) lowbar_ hyphen- dash- colon: semi; comma, period. quest? lsqb[
     lbrack[ rsqb] rbrack] lcub{ lbrace{ rcub} rbrace} verbar| vert| grave\` hat^`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, -1), entry.slice(-1)] as const),
]);
const LONG =
  /\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|([0-3][0-7]{2}|[0-7]{1,2}))/y;
const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z]{2,8})(?=;));?/y;
const PART_LENGTH_MAX = 12;
const PART =
  /(?:\\(?:u[0-9A-Fa-f]{0,3}|u\{[0-9A-Fa-f]{0,6}|U[0-9A-Fa-f]{0,7}|x[0-9A-Fa-f]?)?|%[0-9A-Fa-f]?|&(?:#[xX]?[0-9A-Fa-f]{0,7}|[A-Za-z]{0,8}))$/y;

function isIntroducer(unit: number): boolean {
  return unit === BACKSLASH || unit === PERCENT || unit === AMPERSAND;
}

/** The value of a hex digit, or -1. */
function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const low = unit | 0x20;
  return low >= 0x61 && low <= 0x66 ? low - 0x57 : -1;
}

export function readEscape(text: string, at: number): Escape | undefined {
  const unit = text.charCodeAt(at);
  if (unit === PERCENT) return readPercent(text, at);
  if (unit === BACKSLASH) return readBackslash(text, at);
  return unit === AMPERSAND ? readReference(text, at) : undefined;
}

function readPercent(text: string, at: number): Escape | undefined {
  const high = hexDigit(text.charCodeAt(at + 1));
  const low = hexDigit(text.charCodeAt(at + 2));
  return high < 0 || low < 0 ? undefined : { point: high * 16 + low, end: at + 3, isByte: true };
}

function readBackslash(text: string, at: number): Escape | undefined {
  const simple = SIMPLE.get(text[at + 1] ?? '');
  if (simple !== undefined) return { point: simple, end: at + 2, isByte: false };
  LONG.lastIndex = at;
  const found = LONG.exec(text);
  if (found === null) return undefined;
  const [whole, four, braced, eight, two, octal] = found;
  const end = at + whole.length;
  if (two !== undefined) return { point: Number.parseInt(two, 16), end, isByte: true };
  if (octal !== undefined) return { point: Number.parseInt(octal, 8), end, isByte: true };
  return pointAt(Number.parseInt(four ?? braced ?? eight ?? '', 16), end);
}

function readReference(text: string, at: number): Escape | undefined {
  REFERENCE.lastIndex = at;
  const found = REFERENCE.exec(text);
  if (found === null) return undefined;
  const [whole, decimal, hex, name] = found;
  const end = at + whole.length;
  if (decimal !== undefined) return pointAt(Number.parseInt(decimal, 10), end);
  if (hex !== undefined) return pointAt(Number.parseInt(hex, 16), end);
  const char = NAMES.get(name?.toLowerCase() ?? '');
  return char === undefined ? undefined : { point: char.charCodeAt(0), end, isByte: false };
}

function pointAt(point: number, end: number): Escape | undefined {
  return point > POINT_MAX ? undefined : { point, end, isByte: false };
}

/** Whether an escape begins here that hides more than a space or a sign; a quick look, no proof. */
export function isEscape(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  const next = text.charCodeAt(at + 1);
  if (unit === PERCENT) {
    return hexDigit(next) >= 0 && (at + 2 >= text.length || hexDigit(text.charCodeAt(at + 2)) >= 0);
  }
  if (unit === BACKSLASH) {
    return (next | 0x20) === 0x75 || next === 0x78 || (next >= 0x30 && next <= 0x37);
  }
  return next === 0x23 || readReference(text, at) !== undefined;
}

/** Whether the rest of the text is an escape that was cut. */
function restIsPartOfEscape(text: string, at: number): boolean {
  if (text.length - at > PART_LENGTH_MAX) return false;
  PART.lastIndex = at;
  return PART.test(text);
}

// Text with its escapes undone, and the way back to where each unit came from. JSON's and
// JavaScript's escapes, octal, percent-encoding and HTML's references are undone alike, since one
// text may mix them; what is escaped twice takes two rounds.

export interface UnescapedView extends Traced {
  readonly sourceLength: number;
}

export const LEVELS_MAX = 4;

/** Joins escaped bytes to the character that they are in UTF-8. */
function joined(text: string, first: Escape): Escape {
  const count = first.isByte ? restLength(first.point) : 0;
  if (count === 0) return first;
  let point = first.point & (0x3f >> count);
  let { end } = first;
  for (let at = 0; at < count; at++) {
    const next = readEscape(text, end);
    if (next === undefined || !next.isByte || (next.point & 0xc0) !== 0x80) return first;
    point = (point << 6) | (next.point & 0x3f);
    end = next.end;
  }
  return point > 0x10_ffff ? first : { point, end, isByte: false };
}

/** The text with one level of escapes undone, or nothing when it has none. */
export function unescapeOnce({ text, truncated }: Scanned): UnescapedView | undefined {
  const tracer = new Tracer();
  let done = 0;
  let until = text.length;
  for (let at = 0; at < text.length; at++) {
    if (!isIntroducer(text.charCodeAt(at))) continue;
    const read = readEscape(text, at);
    if (read === undefined) {
      if (!truncated || !restIsPartOfEscape(text, at)) continue;
      // What was cut in an escape must not stand between a value and the end.
      until = at;
      break;
    }
    const { point, end } = joined(text, read);
    tracer.keep(text.slice(done, at), done);
    tracer.replace(String.fromCodePoint(point), { start: at, end });
    done = end;
    at = end - 1;
  }
  if (done === 0 && until === text.length) return undefined;
  tracer.keep(text.slice(done, until), done);
  return { text: tracer.text, toSource: tracer.toSource, sourceLength: text.length };
}

/** Where the range of a view stands in its source; what reaches the end of a cut text still does. */
export function sourceRange(view: UnescapedView, range: Range, truncated: boolean): Range {
  const { start, end } = view.toSource(range);
  const isCut = truncated && range.end === view.text.length;
  return { start, end: isCut ? view.sourceLength : end };
}

/** The text with all its escapes undone. */
export function unescaped(text: string): string {
  let plain = text;
  for (let level = 0; level < LEVELS_MAX; level++) {
    const view = unescapeOnce({ text: plain, truncated: false });
    if (view === undefined) break;
    plain = view.text;
  }
  return plain;
}
