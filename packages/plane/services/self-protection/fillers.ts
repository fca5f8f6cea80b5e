// Parts that only a shell fills in, held against the words of the same call: `a=(policy); rm $a.yaml`.
import { UNKNOWN } from '@subluminal/core/shell';
import type { CanFill } from './name-patterns.ts';

/** A part with more holes than this may become any name. */
const HOLES_MAX = 16;

/** Whether the words of a call can fill the holes of a part, so that it becomes a name. */
export function fillerOf(names: readonly string[]): CanFill {
  let words: ReadonlySet<string> | undefined;
  return (part, name) => {
    if (!part.includes(UNKNOWN)) return false;
    words ??= wordsOf(names);
    return canBecome(part.toLowerCase(), name.toLowerCase(), words);
  };
}

/** The names themselves, and the parts of them that a shell may take out. */
function wordsOf(names: readonly string[]): ReadonlySet<string> {
  const words = new Set<string>();
  for (const name of names) {
    const lower = name.toLowerCase();
    for (const word of [lower, ...lower.split(/[^\w.-]+/), ...lower.split(/[^a-z0-9]+/)]) {
      words.add(word);
    }
  }
  return words;
}

/** Goes along the part with every place in the name that its beginning may end at. */
function canBecome(part: string, name: string, words: ReadonlySet<string>): boolean {
  if (part.split(UNKNOWN).length > HOLES_MAX) return true;
  let ends: ReadonlySet<number> = new Set([0]);
  for (const sign of part) {
    const next = new Set<number>();
    for (const end of ends) {
      if (sign === UNKNOWN) for (const to of filledEnds(name, end, words)) next.add(to);
      else if (sign === '*') for (let to = end; to <= name.length; to++) next.add(to);
      else if (name[end] === sign) next.add(end + 1);
    }
    if (next.size === 0) return false;
    ends = next;
  }
  return ends.has(name.length);
}

/** A hole may be empty, or one of the words. */
function filledEnds(name: string, from: number, words: ReadonlySet<string>): readonly number[] {
  const ends = [from];
  for (let to = from + 1; to <= name.length; to++) {
    if (words.has(name.slice(from, to))) ends.push(to);
  }
  return ends;
}
