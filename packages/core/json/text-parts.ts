// The parts of a JSON text as they were written: what is parsed and written anew loses the digits of
// a number that a double cannot hold.

import { stringEnd } from './duplicate-keys.ts';
import { stringText } from './text.ts';
import {
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
    if (end !== -1)
      members.push({ key: stringText(text.slice(at, keyEnd)), value: text.slice(start, end) });
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
  at = blanksEnd(text, at + 1);
  if (text.charCodeAt(at) === close) return true;
  for (;;) {
    const end = read(at);
    if (end === -1) return false;
    at = blanksEnd(text, end);
    const unit = text.charCodeAt(at);
    if (unit === close) return true;
    if (unit !== COMMA) return false;
    at = blanksEnd(text, at + 1);
  }
}

function blanksEnd(text: string, at: number): number {
  BLANKS.lastIndex = at;
  BLANKS.test(text);
  return BLANKS.lastIndex;
}

/** Behind the value that starts here; -1 when there is none. Without a stack: there is no limit. */
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
