// What one policy has counted in the run, whichever of its versions a shim works by.
import { carryState, initialState, type PolicyState, type Snapshot } from '@subluminal/core/policy';

/** Rules of earlier versions whose counts are kept; one more loses the oldest. */
const PARKED_MAX = 10_000;

export class Counters {
  #state: PolicyState;
  /** Counts of rules that the version in use does not have; a shim may still work by another. */
  #parked: PolicyState | undefined;

  constructor(snapshot: Snapshot) {
    this.#state = initialState(snapshot);
  }

  /** The counts as this version of the policy sees them. */
  for(snapshot: Snapshot): PolicyState {
    if (this.#state.layout === snapshot.layout) return this.#state;
    // During a reload shims ask by the old and the new version in turn. Carrying the state to and
    // fro would forget the rules that only one of them has, and with them what they counted.
    const merged = this.#parked === undefined ? this.#state : merge(this.#state, this.#parked);
    this.#parked = merged;
    this.#state = carryState(merged, snapshot);
    return this.#state;
  }

  keep(state: PolicyState): void {
    this.#state = state;
  }
}

/** All rules of both; where both have a rule, `newer` is right. */
function merge(newer: PolicyState, older: PolicyState): PolicyState {
  const owners = [...newer.layout.owners];
  const slots = [...newer.slots];
  const known = new Set(owners);
  for (const [index, owner] of older.layout.owners.entries()) {
    const slot = older.slots[index];
    if (slot === undefined || known.has(owner)) continue;
    if (owners.length >= PARKED_MAX) break;
    owners.push(owner);
    slots.push(slot);
  }
  return { layout: { owners }, slots, terminated: newer.terminated };
}
