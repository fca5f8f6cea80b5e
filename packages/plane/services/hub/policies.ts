// The policies that the shims of a run decide by: each compiled once, found by its hash.
import { isFailure, type Profile } from '@subluminal/contracts';
import {
  type Identity,
  openSnapshot,
  policiesIn,
  type Snapshot,
  sectionsFor,
  selects,
  withProfile,
} from '@subluminal/core/policy';
import type { Sha256, Verifier } from '@subluminal/core/ports';
import { projectPaths } from '../../stores/policy/index.ts';
import { Counters } from './counters.ts';
import { type TaintRules, taintRules } from './taint.ts';

interface PoliciesOptions {
  readonly sha256: Sha256;
  readonly verifier?: Verifier;
  readonly policiesMax: number;
  readonly policyIdsMax: number;
}

/** One version of a policy, and what the policy has counted. */
export interface HubPolicy {
  readonly snapshot: { readonly [P in Profile]: Snapshot };
  readonly counters: Counters;
  /** Its taint section, if it has one. */
  readonly taint: TaintRules | undefined;
  /** The same for one agent. */
  readonly taintFor: (identity: Identity) => TaintRules | undefined;
}

export class Policies {
  readonly #options: PoliciesOptions;
  /** The one that was used last stands last. */
  readonly #byHash = new Map<string, HubPolicy>();
  #lastUsed = '';
  readonly #countersById = new Map<string, Counters>();
  readonly #opening = new Map<string, Promise<string | undefined>>();

  constructor(options: PoliciesOptions) {
    this.#options = options;
  }

  find(hash: string): HubPolicy | undefined {
    const found = this.#byHash.get(hash);
    // Most calls are decided by the policy of the call before.
    if (found === undefined || hash === this.#lastUsed) return found;
    this.#lastUsed = hash;
    this.#byHash.delete(hash);
    this.#byHash.set(hash, found);
    return found;
  }

  /** Verifies, compiles and keeps a sealed snapshot; the text of a refusal otherwise. */
  async take(file: unknown, hash: string): Promise<string | undefined> {
    // Shims that start together send the same policy at the same time.
    const opening = this.#opening.get(hash);
    if (opening !== undefined && (await opening) === undefined) return undefined;
    if (this.#byHash.has(hash)) return undefined;
    const mine = this.#open(file);
    this.#opening.set(hash, mine);
    try {
      return await mine;
    } finally {
      if (this.#opening.get(hash) === mine) this.#opening.delete(hash);
    }
  }

  async #open(file: unknown): Promise<string | undefined> {
    const snapshot = await openSnapshot(file, { ...this.#options, paths: projectPaths() });
    if (isFailure(snapshot)) return `${snapshot.message} [${snapshot.code}]`;
    const counters = this.#countersFor(snapshot);
    if (counters === undefined) return `the run has ${this.#countersById.size} policies already`;
    const production = withProfile(snapshot, 'production');
    const development = withProfile(snapshot, 'development');
    this.#lastUsed = snapshot.ref.policy_hash;
    this.#byHash.set(snapshot.ref.policy_hash, {
      snapshot: { production, development },
      counters,
      taint: taintOf(snapshot),
      taintFor: taintFinder(snapshot),
    });
    for (const oldest of this.#byHash.keys()) {
      if (this.#byHash.size <= this.#options.policiesMax) break;
      this.#byHash.delete(oldest);
    }
    return undefined;
  }

  #countersFor(snapshot: Snapshot): Counters | undefined {
    const { policy_id } = snapshot.ref;
    const known = this.#countersById.get(policy_id);
    if (known !== undefined) return known;
    if (this.#countersById.size >= this.#options.policyIdsMax) return undefined;
    const fresh = new Counters(snapshot);
    this.#countersById.set(policy_id, fresh);
    return fresh;
  }
}

function taintOf(snapshot: Snapshot, identity?: Identity): TaintRules | undefined {
  const { taint, mode } = sectionsFor(snapshot, identity);
  return taint === undefined ? undefined : taintRules(taint, mode);
}

/** Compiles what holds for an agent once: it depends only on which of the policies are for it. */
function taintFinder(snapshot: Snapshot): HubPolicy['taintFor'] {
  const policies = policiesIn(snapshot);
  const known = new Map<string, TaintRules | undefined>();
  return (identity) => {
    const key = policies.map(({ document }) => selects(document.selectors, identity)).join();
    if (!known.has(key)) known.set(key, taintOf(snapshot, identity));
    return known.get(key);
  };
}
