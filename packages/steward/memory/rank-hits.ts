// Puts what two kinds of search have found into one order: reciprocal rank fusion.
import type { MemoryHit } from './store/types.ts';

/** Small, so that the first hits of a list stand out. */
const RANK_OFFSET = 10;
/** A hit that is so much weaker than the best of its list says nothing. */
const TEXT_FLOOR = 0.3;
const VECTOR_FLOOR = 0.6;

export interface GroupHits {
  readonly text: readonly MemoryHit[];
  readonly vector: readonly MemoryHit[];
}

/**
 * Scores by id. The lists of the user's own entries are judged by themselves: a text from outside that repeats the words
 * of a question, however often, takes no place from them. Those from outside are also held against the best of all.
 */
export function fusedScores(own: GroupHits, outside: GroupHits): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  const add = (hits: readonly MemoryHit[], least: number) => {
    for (const [rank, { id, score }] of hits.entries()) {
      if (score < least) return;
      scores.set(id, (scores.get(id) ?? 0) + 1 / (RANK_OFFSET + rank + 1));
    }
  };
  for (const [kind, floor] of [
    ['text', TEXT_FLOOR],
    ['vector', VECTOR_FLOOR],
  ] as const) {
    add(own[kind], best(own[kind]) * floor);
    add(outside[kind], Math.max(best(own[kind]), best(outside[kind])) * floor);
  }
  return scores;
}

function best(hits: readonly MemoryHit[]): number {
  return hits[0]?.score ?? 0;
}

const WORDS_MAX = 24;
const WORD_UNITS_MAX = 40;
/** Words that stand in every text: they find nothing and cost the most. */
const COMMON = new Set(
  'a an and are as at be been but by can did do does for from had has have he her him his how i if in is it its me my of on or our she so than that the their them then there these they this to was we were what when where which who whose why will with would you your'.split(
    ' ',
  ),
);

/** The words to look for: letters and digits only, so that nothing in them can be an operator. */
export function searchWords(text: string): readonly string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const all = [...new Set(words)].filter((word) => word.length <= WORD_UNITS_MAX);
  const telling = all.filter((word) => !COMMON.has(word));
  return (telling.length === 0 ? all : telling).slice(0, WORDS_MAX);
}
