// How much looking a text may cost. What it is counted in is about the work for one character.

/** Counts down; what is beyond the limit is not looked at, and the one who asks knows it. */
export class Effort {
  #left: number;
  #isSpent = false;

  constructor(unitsMax: number) {
    this.#left = unitsMax;
  }

  get left(): number {
    return this.#left;
  }

  /** Whether something was left out. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** False when there is not enough left for it: from then on there is nothing left. */
  spend(units: number): boolean {
    if (this.#isSpent) return false;
    this.#left -= units;
    if (this.#left >= 0) return true;
    this.#left = 0;
    this.#isSpent = true;
    return false;
  }
}
