// Adds the evidence up. One order may be an accident of wording; several different ones near each other
// are not. The weight of each piece of evidence stands beside its pattern.
import type { Range } from '../types.ts';
import type { Phrase } from './phrase.ts';

/** A phrase that was found, with its weight where it stands. */
export interface Evidence extends Range {
  readonly phrase: Phrase;
  readonly weight: number;
}

/** How near to each other two pieces of evidence support each other. */
const REACH = 320;
/** So many neighbours on either side are enough to tell. */
const NEIGHBOURS_MAX = 32;
const LIKELY = 2;
const CERTAIN = 3;
/** The sum of different evidence from which on nobody writes it by accident. */
const CERTAIN_SUM = 4;

/** Each piece of evidence with what it is worth together with its neighbours of other kinds. */
export function addUp(found: readonly Evidence[]): readonly Evidence[] {
  const sorted = found.toSorted((left, right) => left.start - right.start);
  let first = 0;
  return sorted.map((one, index) => {
    if (!isSupported(one)) return one;
    while ((sorted[first]?.end ?? 0) < one.start - REACH) first++;
    const kinds = new Map<string, number>();
    const from = Math.max(first, index - NEIGHBOURS_MAX);
    for (let at = from; at <= index + NEIGHBOURS_MAX; at++) {
      const other = sorted[at];
      if (other === undefined || other.start > one.end + REACH) break;
      const { id } = other.phrase;
      if (isSupported(other)) kinds.set(id, Math.max(kinds.get(id) ?? 0, other.weight));
    }
    const sum = [...kinds.values()].reduce((total, weight) => total + weight, 0);
    const together = sum >= CERTAIN_SUM ? CERTAIN : sum >= LIKELY ? LIKELY : 1;
    return { ...one, weight: Math.max(one.weight, kinds.size > 1 ? together : 0) };
  });
}

/** A mention has no weight left to add. */
function isSupported({ phrase, weight }: Evidence): boolean {
  return phrase.isEvidence === true && weight > 0;
}
