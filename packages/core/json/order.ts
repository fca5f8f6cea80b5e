// Keys are ordered by Unicode code point. JavaScript compares UTF-16 units, which differs only
// where a surrogate meets a unit above the surrogates.

const SURROGATE_FIRST = 0xd800;

/** A key as a stretch of a text, so that most keys are compared without being copied. */
export interface Key {
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

/** Negative, zero or positive, as the first key sorts before, with or after the second. */
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
