// The policies of a run, with what each of them has decided: a server may have one of its own.
import type { Action, PolicyRef } from '@subluminal/contracts';

export interface PolicyTally extends PolicyRef {
  /** Calls that it has decided. */
  readonly calls: number;
  /** Those of them that did not pass. */
  readonly refused: number;
}

interface Counted {
  readonly ref: PolicyRef;
  calls: number;
  refused: number;
}

export class PolicyTallies {
  readonly #byHash = new Map<string, Counted>();
  readonly #countMax: number;
  #incomplete = false;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get isIncomplete(): boolean {
    return this.#incomplete;
  }

  /** It was in force, whether or not it has decided anything. */
  loaded(policy: PolicyRef): void {
    this.#of(policy);
  }

  decided(policy: PolicyRef, action: Action): void {
    const counted = this.#of(policy);
    if (counted === undefined) return;
    counted.calls += 1;
    if (action !== 'ALLOW') counted.refused += 1;
  }

  /** Those that have decided most come first. */
  list(): readonly PolicyTally[] {
    return Array.from(this.#byHash.values(), ({ ref, calls, refused }) => {
      const { policy_id, policy_version, policy_hash } = ref;
      return { policy_id, policy_version, policy_hash, calls, refused };
    }).toSorted((left, right) => right.calls - left.calls);
  }

  #of(ref: PolicyRef): Counted | undefined {
    const known = this.#byHash.get(ref.policy_hash);
    if (known !== undefined) return known;
    if (this.#byHash.size >= this.#countMax) {
      this.#incomplete = true;
      return undefined;
    }
    const made = { ref, calls: 0, refused: 0 };
    this.#byHash.set(ref.policy_hash, made);
    return made;
  }
}
