// One pass over JSON text that validates it and finds its canonical form. A stretch that is
// canonical as it stands is never taken apart; in the best case the input itself is the answer.
import {
  firstRepeated,
  foldedPair,
  joinMembers,
  keyText,
  type Member,
  sortMembers,
} from './members.ts';
import { readNumber } from './number.ts';
import { compareKeys } from './order.ts';
import { AS_WRITTEN, type Piece, quoted, type Reader } from './reader.ts';
import { readString, shortStringEnd, unescaped } from './string.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  END,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './units.ts';

/** How deep arrays and objects may nest. */
export const DEPTH_MAX = 256;
const KEY_SHOWN_MAX = 64;

/** The canonical text of the whole input, or undefined after a failure. */
export function readDocument(reader: Reader): Piece {
  reader.next();
  const start = reader.at;
  const piece = readValue(reader, 0);
  if (piece === undefined) return undefined;
  const end = reader.at;
  if (reader.next() !== END) return reader.expected('nothing after the value', reader.at);
  return piece === AS_WRITTEN ? reader.text.slice(start, end) : piece;
}

function readValue(reader: Reader, depth: number): Piece {
  switch (reader.unit(reader.at)) {
    case QUOTE:
      return readString(reader);
    case OPEN_BRACE:
      return readObject(reader, depth + 1);
    case OPEN_BRACKET:
      return readArray(reader, depth + 1);
    case LOWER_T:
      return readWord(reader, 'true');
    case LOWER_F:
      return readWord(reader, 'false');
    case LOWER_N:
      return readWord(reader, 'null');
    default:
      return readNumber(reader);
  }
}

function readWord(reader: Reader, word: string): Piece {
  if (!reader.text.startsWith(word, reader.at)) return reader.expected('a value', reader.at);
  reader.at += word.length;
  return AS_WRITTEN;
}

function readArray(reader: Reader, depth: number): Piece {
  if (depth > DEPTH_MAX) return tooDeep(reader);
  const { text } = reader;
  let out = '';
  let copiedTo = reader.at;
  let end = copiedTo + 1;
  reader.at = end;
  let unit = reader.next();
  while (unit !== CLOSE_BRACKET || text.charCodeAt(end - 1) === COMMA) {
    if (reader.at !== end) {
      out += text.slice(copiedTo, end);
      copiedTo = reader.at;
    }
    const start = reader.at;
    const piece = readValue(reader, depth);
    if (piece === undefined) return undefined;
    if (piece !== AS_WRITTEN) {
      out += text.slice(copiedTo, start) + piece;
      copiedTo = reader.at;
    }
    end = reader.at;
    unit = reader.next();
    if (unit === CLOSE_BRACKET) break;
    if (unit !== COMMA) return reader.expected('`,` or `]`', reader.at);
    if (reader.at !== end) {
      out += text.slice(copiedTo, end);
      copiedTo = reader.at;
    }
    end = ++reader.at;
    unit = reader.next();
  }
  if (reader.at !== end) {
    out += text.slice(copiedTo, end);
    copiedTo = reader.at;
  }
  reader.at++;
  return out === '' ? AS_WRITTEN : out + text.slice(copiedTo, reader.at);
}

function readObject(reader: Reader, depth: number): Piece {
  if (depth > DEPTH_MAX) return tooDeep(reader);
  const { text } = reader;
  let end = ++reader.at;
  let unit = reader.next();
  let asWritten = reader.at === end;
  if (unit === CLOSE_BRACE) {
    reader.at++;
    return asWritten ? AS_WRITTEN : '{}';
  }
  const members: Member[] = [];
  let ascending = true;
  let previous: Member | undefined;
  for (;;) {
    const member = readMember(reader, depth);
    if (member === undefined) return undefined;
    if (ascending && previous !== undefined) ascending = compareKeys(previous, member) < 0;
    previous = member;
    members.push(member);
    if (asWritten) asWritten = isAsWritten(member);
    end = reader.at;
    unit = reader.next();
    if (unit !== COMMA && unit !== CLOSE_BRACE) return reader.expected('`,` or `}`', reader.at);
    if (reader.at++ !== end) asWritten = false;
    if (unit === CLOSE_BRACE) break;
    end = reader.at;
    reader.next();
    if (reader.at !== end) asWritten = false;
  }
  if (!ascending && sortMembers(members)) return duplicate(reader, members);
  const pair = reader.foldsKeys ? foldedPair(members) : undefined;
  if (pair !== undefined) return ambiguous(reader, pair);
  return ascending && asWritten ? AS_WRITTEN : joinMembers(text, members);
}

function isAsWritten(member: Member): boolean {
  const { key, value, keyEnd, valueStart } = member;
  return key === AS_WRITTEN && value === AS_WRITTEN && valueStart === keyEnd + 1;
}

function readMember(reader: Reader, depth: number): Member | undefined {
  const { text, at: keyStart } = reader;
  if (reader.unit(keyStart) !== QUOTE) return reader.expected('a key in double quotes', keyStart);
  let key: Piece = AS_WRITTEN;
  let escaped = false;
  let keyEnd = shortStringEnd(text, keyStart);
  if (keyEnd === -1) {
    key = readString(reader);
    if (key === undefined) return undefined;
    escaped = reader.escaped;
    keyEnd = reader.at;
  }
  reader.at = keyEnd;
  if (reader.next() !== COLON) return reader.expected('`:`', reader.at);
  reader.at++;
  reader.next();
  const valueStart = reader.at;
  const value = readValue(reader, depth);
  if (value === undefined) return undefined;
  const source = escaped ? unescaped(text.slice(keyStart, keyEnd)) : text;
  return {
    source,
    start: escaped ? 0 : keyStart + 1,
    end: escaped ? source.length : keyEnd - 1,
    keyStart,
    keyEnd,
    key,
    valueStart,
    valueEnd: reader.at,
    value,
  };
}

function tooDeep(reader: Reader): undefined {
  const message = `expected at most ${DEPTH_MAX} arrays and objects inside each other`;
  reader.fail('SUB_CANON_DEPTH', reader.at, message);
}

function duplicate(reader: Reader, sorted: readonly Member[]): undefined {
  const member = firstRepeated(sorted);
  if (member === undefined) return undefined;
  const message = `expected each key once, found ${shownKey(member)} again`;
  reader.fail('SUB_CANON_DUPLICATE_KEY', member.keyStart, message);
}

function ambiguous(reader: Reader, [one, other]: readonly [Member, Member]): undefined {
  const keys = `${shownKey(one)} and ${shownKey(other)}`;
  const message = `expected keys that differ in more than case, found ${keys} in one object`;
  reader.fail('SUB_CANON_DUPLICATE_KEY', other.keyStart, message);
}

function shownKey(member: Member): string {
  return quoted(keyText(member).slice(0, KEY_SHOWN_MAX));
}
