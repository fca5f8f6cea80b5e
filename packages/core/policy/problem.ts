// What is wrong with a bundle, and how to mend it.
import type { SubCode } from '@subluminal/contracts';

/** A place in a source file; lines and columns count from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

interface Problem {
  /** `error` keeps a bundle from compiling; the others are advice. */
  readonly level: 'error' | 'warning' | 'note';
  /** A stable code: `SUB_BUNDLE_*` for errors, `SUB_LINT_*` for advice. */
  readonly code: SubCode;
  readonly file: string;
  readonly position: Position;
  /** Where in the bundle, like `rules[3].effect.budget.scope`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
  /** The likely fix, as an instruction. */
  readonly fix: string;
}

/** One line a person can act on and an editor can jump to. */
function formatProblem(problem: Problem): string {
  const { file, position, level, message, fix, code } = problem;
  const place = `${file}:${position.line}:${position.column}`;
  const end = /[.?!]$/.test(message) ? '' : '.';
  return `${place}: ${level}: ${message}${end} ${fix} [${code}]`;
}

/** The nearest of the known words, if one is near enough to be what was meant. */
function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = fold(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, fold(candidate), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Case and separators are what people get wrong most: `rate-limit`, `rateLimit`, `Rate_Limit`. */
function fold(word: string): string {
  return word
    .slice(0, 64)
    .toLowerCase()
    .replace(/[-_ .]/g, '');
}

function editDistance(left: string, right: string, distanceMax: number): number {
  if (Math.abs(left.length - right.length) >= distanceMax) return distanceMax;
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      const replaced = (previous[column - 1] ?? 0) + same;
      const removed = (previous[column] ?? 0) + 1;
      const added = (current[column - 1] ?? 0) + 1;
      current.push(Math.min(replaced, removed, added));
    }
    previous = current;
  }
  return previous[right.length] ?? distanceMax;
}

export type { Position, Problem };
export { formatProblem, nearest };
