// The parts of a JSON text as they were written: a value that is parsed and written anew loses the digits
// of a number that a double cannot hold.
import { stringText } from './text.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './units.ts';

interface MemberText {
  readonly key: string;
  /** The JSON of its value. */
  readonly value: string;
}

const BLANKS = /[ \t\r\n]*/y;
const WORD = /[-+.0-9A-Za-z]+/y;

/** The members of the object that a valid text is, in order; undefined when it is none. */
export function memberTexts(text: string): readonly MemberText[] | undefined {
  const members: MemberText[] = [];
  const isRead = eachPart(text, [OPEN_BRACE, CLOSE_BRACE], (at) => {
    const keyEnd = stringEnd(text, at);
    const colon = keyEnd === -1 ? -1 : blanksEnd(text, keyEnd);
    if (text.charCodeAt(colon) !== COLON) return -1;
    const start = blanksEnd(text, colon + 1);
    const end = valueEnd(text, start);
    const key = stringText(text.slice(at, keyEnd));
    if (end !== -1) members.push({ key, value: text.slice(start, end) });
    return end;
  });
  return isRead ? members : undefined;
}

/** The items of the list that a valid text is, in order; undefined when it is none. */
export function itemTexts(text: string): readonly string[] | undefined {
  const items: string[] = [];
  const isRead = eachPart(text, [OPEN_BRACKET, CLOSE_BRACKET], (at) => {
    const end = valueEnd(text, at);
    if (end !== -1) items.push(text.slice(at, end));
    return end;
  });
  return isRead ? items : undefined;
}

/** The items of a list that is a member of an object; of two members of that key, of the last. */
export function itemTextsAt(text: string, key: string): readonly string[] | undefined {
  const list = memberText(text, key);
  return list === undefined ? undefined : itemTexts(list);
}

/** The value of a member as it was written; of two members of that key, of the last. */
export function memberText(text: string, key: string): string | undefined {
  return memberTexts(text)?.findLast((one) => one.key === key)?.value;
}

/** Reads part after part between two brackets; `read` gives the end of a part, or -1. */
function eachPart(
  text: string,
  [open, close]: readonly [number, number],
  read: (at: number) => number,
): boolean {
  let at = blanksEnd(text, 0);
  if (text.charCodeAt(at) !== open) return false;
  if (text.charCodeAt(blanksEnd(text, at + 1)) === close) return true;
  do {
    const end = read(blanksEnd(text, at + 1));
    if (end === -1) return false;
    at = blanksEnd(text, end);
  } while (text.charCodeAt(at) === COMMA);
  return text.charCodeAt(at) === close;
}

/** Where the white space that may stand here ends. */
export function blanksEnd(text: string, at: number): number {
  if (text.charCodeAt(at) > 0x20) return at;
  BLANKS.lastIndex = at;
  BLANKS.test(text);
  return BLANKS.lastIndex;
}

/** Where the value that starts here ends; -1 when there is none. Without a stack: it may nest at will. */
export function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return stringEnd(text, start);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    WORD.lastIndex = start;
    return WORD.test(text) ? WORD.lastIndex : -1;
  }
  let at = start;
  for (let open = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      at = stringEnd(text, at);
      if (at === -1) return -1;
      continue;
    }
    at++;
    if (unit === OPEN_BRACE || unit === OPEN_BRACKET) open++;
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) open--;
    if (open === 0) return at;
  }
  return -1;
}

/** Where the string that starts here ends, its quote included; -1 when it has no end. */
export function stringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return -1;
}

/**
 * Whether a key stands twice in an object of this text: we see the last member, another reader may see the
 * first. `value` is the parsed text.
 */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return writtenMembers(text) !== membersIn(value);
}

/** The colons outside of strings: each belongs to a member. */
function writtenMembers(text: string): number {
  let count = 0;
  let colon = text.indexOf(':');
  let at = 0;
  while (colon !== -1) {
    const quote = text.indexOf('"', at);
    if (quote === -1 || colon < quote) {
      count++;
      at = colon + 1;
      colon = text.indexOf(':', at);
      continue;
    }
    at = stringEnd(text, quote);
    if (at === -1) return count;
    if (colon < at) colon = text.indexOf(':', at);
  }
  return count;
}

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const parts: readonly unknown[] = Object.values(value);
  let count = Array.isArray(value) ? 0 : parts.length;
  for (const part of parts) if (typeof part === 'object') count += membersIn(part);
  return count;
}
