// The way back from a text in which characters were replaced to the places that they came from.
import type { Range } from '../types.ts';

export interface Tracer {
  /** Units that stayed as they were. */
  readonly keep: (text: string, sourceAt: number) => void;
  /** Units that stand for a range of the source; none where it was dropped. */
  readonly replace: (text: string, source: Range) => void;
  readonly finish: () => Traced;
}

export interface Traced {
  readonly text: string;
  readonly toSource: (range: Range) => Range;
}

/** Runs of the text: where each begins, in the text and in the source, and where its source ends. */
interface Runs {
  readonly at: number[];
  readonly sourceAt: number[];
  /** -1 for a run that stayed as it was. */
  readonly sourceEnd: number[];
}

const KEPT = -1;

export function createTracer(): Tracer {
  const runs: Runs = { at: [], sourceAt: [], sourceEnd: [] };
  const pieces: string[] = [];
  let length = 0;
  const push = (text: string, sourceAt: number, sourceEnd: number) => {
    runs.at.push(length);
    runs.sourceAt.push(sourceAt);
    runs.sourceEnd.push(sourceEnd);
    pieces.push(text);
    length += text.length;
  };
  return {
    keep(text, sourceAt) {
      if (text === '') return;
      const last = runs.at.length - 1;
      const follows =
        runs.sourceEnd[last] === KEPT &&
        (runs.sourceAt[last] ?? 0) + length - (runs.at[last] ?? 0) === sourceAt;
      if (!follows) return push(text, sourceAt, KEPT);
      pieces.push(text);
      length += text.length;
    },
    replace(text, { start, end }) {
      if (text !== '') push(text, start, end);
    },
    finish: () => ({ text: pieces.join(''), toSource: (range) => sourceOf(runs, range) }),
  };
}

function sourceOf(runs: Runs, { start, end }: Range): Range {
  const first = runAt(runs, start);
  const last = runAt(runs, Math.max(start, end - 1));
  const from = (runs.sourceAt[first] ?? 0) + offsetIn(runs, first, start);
  const lastEnd = runs.sourceEnd[last] ?? KEPT;
  const to =
    lastEnd === KEPT ? (runs.sourceAt[last] ?? 0) + offsetIn(runs, last, end - 1) + 1 : lastEnd;
  return { start: from, end: Math.max(from, to) };
}

function offsetIn(runs: Runs, run: number, place: number): number {
  return runs.sourceEnd[run] === KEPT ? place - (runs.at[run] ?? 0) : 0;
}

/** The run that a place is in. */
function runAt({ at }: Runs, place: number): number {
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[middle] ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
