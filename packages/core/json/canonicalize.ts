// Canonical JSON, contract A §1.9.1: one text for one value, however it was written. One pass validates the
// text and finds its canonical form. A stretch that is canonical as it stands is never taken apart; in the
// best case the input itself is the answer.
import {
  AS_WRITTEN,
  type CanonicalText,
  type InvalidJson,
  quoted,
  readNumber,
  readString,
  shortStringEnd,
  TextReader,
  unescaped,
} from './canonical-scalars.ts';
import { foldKey } from './fold-key.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DEPTH_MAX,
  END,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  UPPER_A,
  UPPER_Z,
} from './units.ts';

export type Canonical = { readonly ok: true; readonly canonical: string } | InvalidJson;

const KEY_SHOWN_MAX = 64;

interface CanonicalOptions {
  /** Also refuse two keys of one object that differ only in case: some readers take them for one. */
  readonly foldsKeys?: boolean;
}

/**
 * The canonical form of JSON text. It reads the text itself instead of parsing it into values,
 * so no digit is lost, and it refuses what JSON.parse would let pass: repeated keys, nesting
 * beyond `DEPTH_MAX` and absurd exponents. Time grows with the length of the text, whatever is
 * in it; the caller bounds that length.
 *
 * - Keys are sorted by Unicode code point; there is no white space.
 * - Strings are what JSON.stringify writes, so half surrogate pairs are escaped and every
 *   canonical text has a UTF-8 form.
 * - Numbers are formatted by exact decimal value with ECMAScript's thresholds: plain up to 21
 *   integer digits and down to 0.000001, else `d.ddde+N` with every digit kept. Zero has no sign.
 */
export function canonicalize(
  text: string,
  { foldsKeys = false }: CanonicalOptions = {},
): Canonical {
  const reader = new TextReader(text, foldsKeys);
  const canonical = readDocument(reader);
  if (canonical !== undefined) return { ok: true, canonical };
  if (reader.failure === undefined) throw new Error('a text was refused without a reason');
  return reader.failure;
}

/** The canonical text of the whole input, or undefined after a failure. */
function readDocument(reader: TextReader): CanonicalText {
  reader.next();
  const start = reader.at;
  const piece = readValue(reader, 0);
  if (piece === undefined) return undefined;
  const end = reader.at;
  if (reader.next() !== END) return reader.expected('nothing after the value', reader.at);
  return piece === AS_WRITTEN ? reader.text.slice(start, end) : piece;
}

function readValue(reader: TextReader, depth: number): CanonicalText {
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

function readWord(reader: TextReader, word: string): CanonicalText {
  if (!reader.text.startsWith(word, reader.at)) return reader.expected('a value', reader.at);
  reader.at += word.length;
  return AS_WRITTEN;
}

function readArray(reader: TextReader, depth: number): CanonicalText {
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

function readObject(reader: TextReader, depth: number): CanonicalText {
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

function readMember(reader: TextReader, depth: number): Member | undefined {
  const { text, at: keyStart } = reader;
  if (reader.unit(keyStart) !== QUOTE) return reader.expected('a key in double quotes', keyStart);
  let key: CanonicalText = AS_WRITTEN;
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

function tooDeep(reader: TextReader): undefined {
  const message = `expected at most ${DEPTH_MAX} arrays and objects inside each other`;
  reader.fail('SUB_CANON_DEPTH', reader.at, message);
}

function duplicate(reader: TextReader, sorted: readonly Member[]): undefined {
  const member = firstRepeated(sorted);
  if (member === undefined) return undefined;
  const message = `expected each key once, found ${shownKey(member)} again`;
  reader.fail('SUB_CANON_DUPLICATE_KEY', member.keyStart, message);
}

function ambiguous(reader: TextReader, [one, other]: readonly [Member, Member]): undefined {
  const keys = `${shownKey(one)} and ${shownKey(other)}`;
  const message = `expected keys that differ in more than case, found ${keys} in one object`;
  reader.fail('SUB_CANON_DUPLICATE_KEY', other.keyStart, message);
}

function shownKey(member: Member): string {
  return quoted(keyText(member).slice(0, KEY_SHOWN_MAX));
}

// The members of one object: sorted by key, checked for repeated keys, joined.

/** A key as a stretch of a text, so that most keys are compared without being copied. */
interface Key {
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

export interface Member extends Key {
  /** Where the key stands in the text, quotes included, and its canonical text. */
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly key: string;
  /** Where the value stands, and its canonical text. */
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly value: string;
}

/** Most objects have few members, where insertion beats the general sort. */
const INSERTION_SORT_MAX = 12;

/** Sorts members by key; true when two of them have one key. */
function sortMembers(members: Member[]): boolean {
  let repeats = false;
  const compare = (left: Member, right: Member): number => {
    const order = compareKeys(left, right);
    if (order === 0) repeats = true;
    return order;
  };
  if (members.length > INSERTION_SORT_MAX) members.sort(compare);
  else insertionSort(members, compare);
  return repeats;
}

function insertionSort(members: Member[], compare: (left: Member, right: Member) => number): void {
  for (let index = 1; index < members.length; index++) {
    const member = members[index];
    if (member === undefined) return;
    let slot = index;
    while (slot > 0) {
      const before = members[slot - 1];
      if (before === undefined || compare(before, member) <= 0) break;
      members[slot] = before;
      slot--;
    }
    members[slot] = member;
  }
}

/** The first member in the text whose key an earlier one has, once they are in order. */
function firstRepeated(sorted: readonly Member[]): Member | undefined {
  let first: Member | undefined;
  let previous: Member | undefined;
  for (const member of sorted) {
    const repeats = previous !== undefined && compareKeys(previous, member) === 0;
    if (repeats && (first === undefined || member.keyStart < first.keyStart)) first = member;
    previous = member;
  }
  return first;
}

/** Whether a key has upper case or characters beyond ASCII, so that another key may fold to it. */
function hasCase({ source, start, end }: Key): boolean {
  for (let at = start; at < end; at++) {
    const unit = source.charCodeAt(at);
    if (unit >= 0x80 || (unit >= UPPER_A && unit <= UPPER_Z)) return true;
  }
  return false;
}

/** Two members whose keys differ only in case, in the order of the text. */
function foldedPair(members: readonly Member[]): readonly [Member, Member] | undefined {
  if (members.length < 2 || !members.some(hasCase)) return undefined;
  const seen = new Map<string, Member>();
  for (const member of members.toSorted((one, other) => one.keyStart - other.keyStart)) {
    const folded = foldKey(keyText(member));
    const twin = seen.get(folded);
    if (twin !== undefined) return [twin, member];
    seen.set(folded, member);
  }
  return undefined;
}

function keyText({ source, start, end }: Key): string {
  return source.slice(start, end);
}

/** The canonical text of an object, in as few pieces as its text allows. */
function joinMembers(text: string, members: readonly Member[]): string {
  let out = '{';
  let left = members.length;
  for (const member of members) {
    const { keyStart, keyEnd, valueStart, valueEnd } = member;
    left--;
    let from = valueStart;
    if (member.key !== AS_WRITTEN) out += `${member.key}:`;
    else if (valueStart === keyEnd + 1) from = keyStart;
    else if (text.charCodeAt(keyEnd) === COLON) out += text.slice(keyStart, keyEnd + 1);
    else out += `${text.slice(keyStart, keyEnd)}:`;
    if (member.value !== AS_WRITTEN) {
      if (from !== valueStart) out += text.slice(from, valueStart);
      out += left > 0 ? `${member.value},` : member.value;
    } else if (left > 0 && text.charCodeAt(valueEnd) === COMMA) {
      out += text.slice(from, valueEnd + 1);
    } else {
      out += left > 0 ? `${text.slice(from, valueEnd)},` : text.slice(from, valueEnd);
    }
  }
  return `${out}}`;
}

/**
 * JavaScript compares UTF-16 units, which differs from the order of code points only where a surrogate
 * meets a unit above the surrogates.
 */
const SURROGATE_FIRST = 0xd800;

/** Compares keys by Unicode code point: negative, zero or positive. */
function compareKeys(left: Key, right: Key): number {
  const leftLength = left.end - left.start;
  const rightLength = right.end - right.start;
  const shared = Math.min(leftLength, rightLength);
  for (let index = 0; index < shared; index++) {
    const leftUnit = left.source.charCodeAt(left.start + index);
    const rightUnit = right.source.charCodeAt(right.start + index);
    if (leftUnit === rightUnit) continue;
    if (leftUnit < SURROGATE_FIRST || rightUnit < SURROGATE_FIRST) return leftUnit - rightUnit;
    return compareHighUnits(left, right, index);
  }
  return leftLength - rightLength;
}

/** Both keys have a unit from D800 up where they first differ: whole code points must decide. */
function compareHighUnits(left: Key, right: Key, index: number): number {
  // A pair may have begun one unit earlier, in the part that both share.
  const before = index > 0 ? left.source.charCodeAt(left.start + index - 1) : 0;
  const from = before >= SURROGATE_FIRST && before < 0xdc00 ? index - 1 : index;
  const difference = codePoint(left, from) - codePoint(right, from);
  return difference !== 0 ? difference : codePoint(left, index) - codePoint(right, index);
}

function codePoint(key: Key, index: number): number {
  return key.source.codePointAt(key.start + index) ?? 0;
}
