// The way back from a text in which characters were replaced to the places that they came from.

import { foldChar } from '../text/look-alikes.ts';
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

// Text as a reader, or a model, takes it: compatibility forms, look-alikes and accents brought to
// ASCII, what can't be seen dropped, Unicode tags decoded; and the way back to the original.

const NOT_ASCII = /[^\0-\x7f]+/g;

/** The text with everything folded, or nothing when it is ASCII already. */
export function fold(text: string): Traced | undefined {
  NOT_ASCII.lastIndex = 0;
  let done = 0;
  const tracer = createTracer();
  for (let run = NOT_ASCII.exec(text); run !== null; run = NOT_ASCII.exec(text)) {
    tracer.keep(text.slice(done, run.index), done);
    let at = run.index;
    for (const char of run[0]) {
      const folded = foldChar(char);
      if (folded === char) tracer.keep(char, at);
      else tracer.replace(folded, { start: at, end: at + char.length });
      at += char.length;
    }
    done = at;
  }
  if (done === 0) return undefined;
  tracer.keep(text.slice(done), done);
  return tracer.finish();
}
