// The way back from a text in which characters were replaced to the places that they came from.
import type { Range } from '../types.ts';

export interface Traced {
  readonly text: string;
  readonly toSource: (range: Range) => Range;
}

/** A run of the text: where it begins, in the text and in the source. */
interface Run {
  readonly at: number;
  readonly sourceAt: number;
  /** Where its source ends; undefined for a run that stayed as it was. */
  readonly sourceEnd: number | undefined;
}

/** Puts a text together, run by run, and keeps where each run came from. */
export class Tracer implements Traced {
  readonly #runs: Run[] = [];
  text = '';

  /** Adds units that stayed as they were. */
  keep(text: string, sourceAt: number): void {
    const last = this.#runs.at(-1);
    const isNext =
      last !== undefined &&
      last.sourceEnd === undefined &&
      last.sourceAt + this.text.length - last.at === sourceAt;
    if (isNext) this.text += text;
    else this.#add(text, sourceAt);
  }

  /** Adds units that stand for a range of the source; none where it was dropped. */
  replace(text: string, { start, end }: Range): void {
    this.#add(text, start, end);
  }

  #add(text: string, sourceAt: number, sourceEnd?: number): void {
    if (text !== '') this.#runs.push({ at: this.text.length, sourceAt, sourceEnd });
    this.text += text;
  }

  toSource = ({ start, end }: Range): Range => {
    const from = this.#sourceOf(start).start;
    return { start: from, end: Math.max(from, this.#sourceOf(Math.max(start, end - 1)).end) };
  };

  #sourceOf(place: number): Range {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#runs[middle]?.at ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    const { at, sourceAt, sourceEnd } = this.#runs[Math.max(0, low - 1)] ?? NO_RUN;
    if (sourceEnd !== undefined) return { start: sourceAt, end: sourceEnd };
    return { start: sourceAt + place - at, end: sourceAt + place - at + 1 };
  }
}

const NO_RUN: Run = { at: 0, sourceAt: 0, sourceEnd: undefined };
