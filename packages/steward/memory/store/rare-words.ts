// Which words of a question to rank entries by. A word that stands in half of them hardly tells them apart, and ranking
// all of those takes the longest.

/** So many entries are ranked at most, unless the rarest word alone stands in more. */
export const RANKED_MAX = 5_000;

export interface WordCount {
  readonly word: string;
  /** How many entries hold it, counted up to `RANKED_MAX`. */
  readonly count: number;
}

/** Words that stand somewhere, the rarest first, as long as not too many entries hold them. */
export function rareWords(counts: readonly WordCount[]): readonly string[] {
  let entries = 0;
  return counts
    .filter(({ count }) => count > 0)
    .toSorted((left, right) => left.count - right.count)
    .filter(({ count }, place) => {
      entries += count;
      return place === 0 || entries <= RANKED_MAX;
    })
    .map(({ word }) => word);
}
