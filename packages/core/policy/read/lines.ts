import type { Position } from '../problem.ts';

export type PositionAt = (offset: number) => Position;

/**
 * Finds the line and column of any offset in a text; both count from 1. What is missing at the
 * end is missing behind the last line that shows something.
 */
export function indexLines(text: string): PositionAt {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const end = text.trimEnd().length;
  return (offset) => {
    const wanted = Math.min(Math.max(0, offset), end);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= wanted) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: wanted - (starts[low] ?? 0) + 1 };
  };
}
