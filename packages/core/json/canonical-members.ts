// The members of one object: sorted by key, checked for repeated keys, joined.
import { foldKey } from './fold-key.ts';
import { AS_WRITTEN } from './text-reader.ts';
import { COLON, COMMA, UPPER_A, UPPER_Z } from './units.ts';

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
export function sortMembers(members: Member[]): boolean {
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
export function firstRepeated(sorted: readonly Member[]): Member | undefined {
  let first: Member | undefined;
  let previous: Member | undefined;
  for (const member of sorted) {
    const repeats = previous !== undefined && compareKeys(previous, member) === 0;
    if (repeats && (first === undefined || member.keyStart < first.keyStart)) first = member;
    previous = member;
  }
  return first;
}

/** Whether a key has what another key may lack and fold to it all the same. */
function hasCase({ source, start, end }: Key): boolean {
  for (let at = start; at < end; at++) {
    const unit = source.charCodeAt(at);
    if (unit >= 0x80 || (unit >= UPPER_A && unit <= UPPER_Z)) return true;
  }
  return false;
}

/** Two members whose keys differ only in case, in the order of the text. */
export function foldedPair(members: readonly Member[]): readonly [Member, Member] | undefined {
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

export function keyText({ source, start, end }: Key): string {
  return source.slice(start, end);
}

/** The canonical text of an object, in as few pieces as its text allows. */
export function joinMembers(text: string, members: readonly Member[]): string {
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
export function compareKeys(left: Key, right: Key): number {
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
