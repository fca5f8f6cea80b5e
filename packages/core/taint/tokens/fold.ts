// One form for letters that are the same letter, within bounds: one character may become eighteen.

const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
/** Sorting a long run of marks takes time by its square; no word has more than a few. */
const MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;
const ASCII_ONLY = /^[\0-\x7f]*$/;
/** What may melt into the character before it: marks, the later parts of Hangul, second halves. */
const JOINS_BEFORE = /^[\p{M}\uff9e\uff9f\u1160-\u11ff\udc00-\udfff]/u;
const PART_LENGTH = 4_096;
const SHIFT_MAX = 64;

/** Compatible forms become one, and what is invisible goes: `ｅｖｉｌ` is `evil`. */
export function folded(text: string, lengthMax: number = Number.MAX_SAFE_INTEGER): string {
  if (ASCII_ONLY.test(text)) return text.slice(0, lengthMax);
  const plain = text.replace(MARKS, '$1');
  let found = '';
  for (let at = 0; at < plain.length && found.length < lengthMax; ) {
    const end = cutAfter(plain, at + PART_LENGTH);
    found += foldedPart(plain.slice(at, end));
    at = end;
  }
  return found.slice(0, lengthMax);
}

function foldedPart(part: string): string {
  return part.normalize('NFKC').replace(IGNORABLE, '').replace(/[。｡]/g, '.');
}

/** The next place where a cut changes nothing of what stands on its sides. */
function cutAfter(text: string, from: number): number {
  for (let at = from; at < text.length && at < from + SHIFT_MAX; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) return at;
    if ((code & 0xfc00) === 0xdc00) continue;
    if (!JOINS_BEFORE.test(text.slice(at, at + 2))) return at;
  }
  return Math.min(text.length, from + SHIFT_MAX);
}
