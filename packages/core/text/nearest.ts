// The known word that a misspelt one was meant to be.

/** Beyond this many slips it is another word, however long it is. */
const SLIPS_MAX = 3;

/** The nearest of the known words, if one is near enough to be what was meant. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = fold(word);
  let best: string | undefined;
  let bestDistance = Math.min(SLIPS_MAX, Math.max(1, Math.floor(wanted.length / 3))) + 1;
  for (const candidate of known) {
    const folded = fold(candidate);
    const distance = slips(wanted, folded, bestDistance);
    // Half of a short word is no slip: `id` is not `ci`.
    if (distance < bestDistance && distance * 2 < folded.length) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The known word that was meant: the nearest, or the only one that says the same in part. */
export function likely(word: string, known: readonly string[]): string | undefined {
  const near = nearest(word, known);
  if (near !== undefined) return near;
  const wanted = fold(word).replace(/(?<=...)s$/, '');
  if (wanted.length < 2) return undefined;
  const related = known.filter((candidate) => {
    // `tool` for `tool_name`, and `production` for `prod`.
    if (candidate.split('_').includes(wanted)) return true;
    return candidate.length >= 3 && wanted.startsWith(fold(candidate));
  });
  return related.length === 1 ? related[0] : undefined;
}

/** Case and separators are what people get wrong most: `rate-limit`, `rateLimit`, `Rate_Limit`. */
function fold(word: string): string {
  return word
    .slice(0, 64)
    .toLowerCase()
    .replace(/[-_ .]/g, '');
}

/** How many slips lead from one word to the other; two neighbours swapped are one. */
function slips(left: string, right: string, slipsMax: number): number {
  if (Math.abs(left.length - right.length) >= slipsMax) return slipsMax;
  let beforePrevious: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      const replaced = (previous[column - 1] ?? 0) + same;
      const removed = (previous[column] ?? 0) + 1;
      const added = (current[column - 1] ?? 0) + 1;
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const swapped = isSwap ? (beforePrevious[column - 2] ?? slipsMax) + 1 : slipsMax;
      current.push(Math.min(replaced, removed, added, swapped));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? slipsMax;
}
