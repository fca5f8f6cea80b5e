// Two texts line by line: what was taken out, what was put in, and what stayed.
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
  /** From 1; undefined on the side where the line is not. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Beyond it, the middle is shown as wholly replaced: a table of all pairs would not fit in memory. */
const PAIRS_MAX = 4_000_000;

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const old = before.split('\n');
  const next = after.split('\n');
  const start = sameLength(old, next);
  const end = sameLength(old.slice(start).toReversed(), next.slice(start).toReversed());
  const lines: DiffLine[] = [];
  const same = (from: number, to: number, shift: number) => {
    for (let at = from; at < to; at++) {
      lines.push({ kind: 'same', text: old[at] ?? '', before: at + 1, after: at + 1 + shift });
    }
  };
  same(0, start, 0);
  lines.push(...middleDiff(old, next, { start, end }));
  same(old.length - end, old.length, next.length - old.length);
  return lines;
}

function sameLength(one: readonly string[], other: readonly string[]): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length++;
  return length;
}

/** The longest common subsequence of what lies between the common beginning and the common end. */
function middleDiff(
  old: readonly string[],
  next: readonly string[],
  { start, end }: { readonly start: number; readonly end: number },
): readonly DiffLine[] {
  const rows = old.length - end - start;
  const columns = next.length - end - start;
  const isTooLarge = rows * columns > PAIRS_MAX;
  const width = columns + 1;
  const lengths = new Uint32Array(isTooLarge ? 0 : (rows + 1) * width);
  const lengthAt = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0 && !isTooLarge; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const isSame = old[start + row] === next[start + column];
      lengths[row * width + column] = isSame
        ? lengthAt(row + 1, column + 1) + 1
        : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let row = 0;
  let column = 0;
  while (row < rows || column < columns) {
    const text = old[start + row] ?? '';
    const other = next[start + column] ?? '';
    const isSame = !isTooLarge && row < rows && column < columns && text === other;
    const isRemoved =
      row < rows &&
      (column >= columns || isTooLarge || lengthAt(row + 1, column) >= lengthAt(row, column + 1));
    if (isSame) {
      lines.push({ kind: 'same', text, before: start + ++row, after: start + ++column });
    } else if (isRemoved) {
      lines.push({ kind: 'removed', text, before: start + ++row, after: undefined });
    } else {
      lines.push({ kind: 'added', text: other, before: undefined, after: start + ++column });
    }
  }
  return lines;
}
