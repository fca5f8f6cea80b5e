// The last calls before those that come. Calls end in another order than they began, so only who has
// seen them all knows which are the last.
import type { Folded } from './fold.ts';

/** Beside the calls; a run has two. */
const NOTICES_MAX = 1_000;

export class Backlog {
  readonly #callsMax: number;
  #kept: Folded[] = [];
  #calls = 0;

  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  add(folded: Folded): void {
    this.#kept.push(folded);
    if (folded.kind === 'call') this.#calls++;
    while (this.#calls > this.#callsMax) this.#drop();
    if (this.#kept.length > this.#callsMax + NOTICES_MAX) this.#drop();
  }

  /** What is kept, and nothing any more. */
  take(): readonly Folded[] {
    const kept = this.#kept;
    this.#kept = [];
    this.#calls = 0;
    return kept;
  }

  #drop(): void {
    if (this.#kept.shift()?.kind === 'call') this.#calls--;
  }
}
