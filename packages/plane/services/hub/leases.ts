// Calls that were leased to shims in advance, so that they count by themselves. What is leased counts as used
// here until it is returned: so no budget is ever overdrawn, whatever becomes of a shim.
import {
  HUB_LEASE_CALLS_MAX,
  HUB_LEASE_TIMES,
  type Lease,
  type LeaseCounter,
  type Recall,
} from '@subluminal/contracts/hub-frames';
import { callsLeft, withCallsTaken } from '@subluminal/core/policy';
import type { HubPolicy } from './policies.ts';

/** The shim at the other end of a connection. */
export interface LeaseHolder {
  recall(recall: Recall): void;
  /** The run is over. */
  stop(): void;
}

/** Calls of one counter of which it is not known here whether their holder has used them. */
interface Held {
  readonly counter: LeaseCounter;
  /** The version of the policy that they were leased by: in another one, a call may take more from the counter. */
  readonly policyHash: string;
  calls: number;
  /** The holder has not answered in time: its calls count as used unless it still returns some. */
  isLate: boolean;
}

/** A recall that a holder has not answered yet. */
interface Recalled {
  /** How many calls the holder had then; what it was leased since is not recalled. */
  readonly calls: Map<string, number>;
  readonly done: Promise<void>;
  readonly settle: () => void;
}

/** Others may take what one has returned; then more is recalled. */
const RECALL_ROUNDS_MAX = 4;
/** A shim has few counters. Of those that are forgotten, all calls count as used. */
const COUNTERS_MAX = 4_096;

export class Leases {
  readonly #nowMs: () => number;
  readonly #recallMs: number;
  readonly #held = new Map<LeaseHolder, Map<string, Held>>();
  readonly #recalled = new Map<LeaseHolder, Map<number, Recalled>>();
  #recallsMade = 0;

  constructor(nowMs: () => number, recallMs: number = HUB_LEASE_TIMES.recallMs) {
    this.#nowMs = nowMs;
    this.#recallMs = recallMs;
  }

  get holders(): Iterable<LeaseHolder> {
    return this.#held.keys();
  }

  /** Whether anything is leased. */
  get isHolding(): boolean {
    return [...this.#held.values()].some(({ size }) => size > 0);
  }

  /** Whether counters lack what is needed, while shims may hold it. */
  isHeldElsewhere(policy: HubPolicy, needed: readonly Lease[]): boolean {
    const short = this.#short(policy, needed);
    return [...this.#held.values()].some((held) => short.some((id) => mayReturn(held.get(id))));
  }

  join(holder: LeaseHolder): void {
    this.#held.set(holder, new Map());
    this.#recalled.set(holder, new Map());
  }

  /** What a holder has not returned by now, it has used. */
  leave(holder: LeaseHolder): void {
    for (const { settle } of [...(this.#recalled.get(holder)?.values() ?? [])]) settle();
    this.#held.delete(holder);
    this.#recalled.delete(holder);
  }

  /** Leases at least the calls that are needed, where there are so many, and some in advance. */
  async lease(
    holder: LeaseHolder,
    policy: HubPolicy,
    needed: readonly Lease[],
  ): Promise<readonly Lease[]> {
    await this.recallFor(policy, needed, holder);
    return needed.map((need) => this.#grant(holder, policy, need));
  }

  /**
   * Has unused calls returned until each of these counters has what is needed, or nobody holds any more of it;
   * undefined when nothing has to be returned.
   */
  recallFor(
    policy: HubPolicy,
    needed: readonly Lease[],
    except?: LeaseHolder,
  ): Promise<void> | undefined {
    const first = this.#recallRound(policy, needed, except);
    if (first === undefined) return undefined;
    // Whoever asks waits no longer than for two late holders, one after the other.
    const untilMs = this.#nowMs() + this.#recallMs;
    const further = async (): Promise<void> => {
      await first;
      for (let round = 1; round < RECALL_ROUNDS_MAX && this.#nowMs() < untilMs; round++) {
        const next = this.#recallRound(policy, needed, except);
        if (next === undefined) return;
        await next;
      }
    };
    return further();
  }

  /** Takes calls back that a holder has not used; what it does not return of recalled counters, it has used. */
  giveBack(
    holder: LeaseHolder,
    policy: HubPolicy | undefined,
    { leases, recall }: { readonly leases: readonly Lease[]; readonly recall?: number | undefined },
  ): void {
    const held = this.#held.get(holder);
    if (held === undefined) return;
    const returned = new Map<string, number>();
    const open = this.#recalled.get(holder) ?? new Map<number, Recalled>();
    for (const lease of leases) {
      const id = policy === undefined ? '' : idOf(policy, lease);
      const known = held.get(id);
      if (policy === undefined || known?.policyHash !== hashOf(policy)) continue;
      // Nobody returns more than was leased.
      const calls = Math.min(known.calls, lease.calls);
      lessen(held, id, calls);
      returned.set(id, calls);
      this.#take(policy, { ...lease, calls: -calls });
      // A recall that is still on its way asks for what the holder has then.
      if (recall === undefined) for (const one of open.values()) lessRecalled(one, id, calls);
    }
    const recalled = recall === undefined ? undefined : open.get(recall);
    if (recalled === undefined) return;
    for (const [id, calls] of recalled.calls) {
      lessen(held, id, Math.max(0, calls - (returned.get(id) ?? 0)));
    }
    recalled.settle();
  }

  #grant(holder: LeaseHolder, policy: HubPolicy, need: Lease): Lease {
    const { rule, key } = need;
    const held = this.#held.get(holder);
    const left = this.#left(policy, need);
    // A holder that has gone meanwhile gets nothing.
    if (held === undefined || left <= 0) return { rule, key, calls: 0 };
    const share = Math.floor(left / (2 * Math.max(1, this.#held.size)));
    const calls = Math.min(left, Math.max(need.calls, Math.min(share, HUB_LEASE_CALLS_MAX)));
    this.#take(policy, { rule, key, calls });
    const id = idOf(policy, need);
    const known = held.get(id);
    const policyHash = hashOf(policy);
    // What another version leased is used.
    const before = known?.policyHash === policyHash ? known.calls : 0;
    held.delete(id);
    makeRoom(held);
    held.set(id, { counter: { rule, key }, policyHash, calls: before + calls, isLate: false });
    return { rule, key, calls };
  }

  #left({ snapshot: { production }, counters }: HubPolicy, counter: LeaseCounter): number {
    return callsLeft(production, counters.for(production), counter);
  }

  #take({ snapshot: { production }, counters }: HubPolicy, lease: Lease): void {
    const taken = { lease, nowMs: this.#nowMs() };
    counters.keep(withCallsTaken(production, counters.for(production), taken));
  }

  /** The counters that lack what is needed. */
  #short(policy: HubPolicy, needed: readonly Lease[]): readonly string[] {
    const short = needed.filter((need) => this.#left(policy, need) < need.calls);
    return [...new Set(short.map((need) => idOf(policy, need)))];
  }

  #recallRound(
    policy: HubPolicy,
    needed: readonly Lease[],
    except: LeaseHolder | undefined,
  ): Promise<unknown> | undefined {
    const ids = this.#short(policy, needed);
    const answers = [...this.#held].flatMap(([holder, held]) => {
      const known = ids.filter((id) => mayReturn(held.get(id)));
      return holder === except || known.length === 0 ? [] : this.#recall(holder, held, known);
    });
    return answers.length === 0 ? undefined : Promise.all(answers);
  }

  /** Recalls what is not being recalled yet; settles when the holder has answered, has left, or is late. */
  #recall(
    holder: LeaseHolder,
    held: ReadonlyMap<string, Held>,
    ids: readonly string[],
  ): readonly Promise<void>[] {
    const open = this.#recalled.get(holder) ?? new Map<number, Recalled>();
    const waiting = [...open.values()].filter(({ calls }) => ids.some((id) => calls.has(id)));
    const fresh = ids.filter((id) => !waiting.some(({ calls }) => calls.has(id)));
    if (fresh.length === 0) return waiting.map(({ done }) => done);
    const recall = ++this.#recallsMade;
    const { promise: done, resolve } = withResolver();
    const settle = (): void => {
      clearTimeout(timer);
      open.delete(recall);
      resolve();
    };
    const giveUp = (): void => {
      for (const id of fresh) {
        const late = held.get(id);
        if (late !== undefined) late.isLate = true;
      }
      settle();
    };
    const timer = setTimeout(giveUp, this.#recallMs).unref();
    const calls = new Map(fresh.map((id) => [id, held.get(id)?.calls ?? 0]));
    open.set(recall, { calls, done, settle });
    const leases = fresh.flatMap((id) => held.get(id)?.counter ?? []);
    holder.recall({ recall, leases });
    return [...waiting.map((one) => one.done), done];
  }
}

/** So many calls were returned or used. */
function lessen(held: Map<string, Held>, id: string, calls: number): void {
  const known = held.get(id);
  if (known === undefined) return;
  known.calls -= calls;
  if (known.calls <= 0) held.delete(id);
}

function lessRecalled({ calls }: Recalled, id: string, returned: number): void {
  const asked = calls.get(id);
  if (asked !== undefined) calls.set(id, Math.max(0, asked - returned));
}

/** Forgets the counters that were leased the longest time ago. */
function makeRoom(held: Map<string, Held>): void {
  for (const oldest of held.keys()) {
    if (held.size < COUNTERS_MAX) return;
    held.delete(oldest);
  }
}

/** Whether a holder may still have calls, and would say so. */
function mayReturn(held: Held | undefined): boolean {
  return held !== undefined && held.calls > 0 && !held.isLate;
}

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function hashOf({ snapshot: { production } }: HubPolicy): string {
  return production.ref.policy_hash;
}

function idOf({ snapshot: { production } }: HubPolicy, { rule, key }: LeaseCounter): string {
  return `${production.ref.policy_id}\u0000${rule}\u0000${key}`;
}
