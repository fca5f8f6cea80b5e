// Calls of shared counters that this session counts by itself, because the hub has leased them to it.
import type { Lease, LeaseCounter } from '@subluminal/contracts/hub-frames';
import { decide } from '../policy/decide/decide.ts';
import type { Call, TraceStep } from '../policy/index.ts';
import { countedWhere } from '../policy/leases/counted-where.ts';
import {
  callsLeft,
  countersOf,
  withCallsTaken,
  withCounterClosed,
} from '../policy/leases/leased-calls.ts';
import { hubOutcome } from './ask-hub.ts';
import type { Context, MessageStep } from './context.ts';
import type { Judgement } from './decide-call.ts';
import type { LeaseAnswer } from './types.ts';

/** So many counters are remembered; the calls of one that is forgotten are lost. */
const COUNTERS_MAX = 1_000;
const NONE: readonly LeaseCounter[] = [];

/** The counters that this session may count for; what their state holds for it was leased. */
export type LeasedCounters = Map<string, LeaseCounter>;

function idOf({ rule, key }: LeaseCounter): string {
  return `${rule}\u0000${key}`;
}

/** The counters of which a call needs a lease. */
function leasedFor({ config, snapshot }: Context, call: Call): readonly LeaseCounter[] {
  if (config.leases !== true) return NONE;
  const where = countedWhere(snapshot, call);
  return where.kind === 'leased' ? countersOf(snapshot, where.rules, call) : NONE;
}

/** What must be leased before calls that are decided here can be; for one message, one after the other. */
export class LeaseNeeds {
  readonly #context: Context;
  readonly #needed = new Map<string, { readonly counter: LeaseCounter; calls: number }>();

  constructor(context: Context) {
    this.#context = context;
  }

  add(call: Call): void {
    for (const counter of leasedFor(this.#context, call)) {
      const id = idOf(counter);
      const known = this.#needed.get(id);
      if (known === undefined) this.#needed.set(id, { counter, calls: 1 });
      else known.calls++;
    }
  }

  /**
   * Nothing where all counters have enough. Else the calls that are needed of each: while the hub is asked, what is held
   * may be recalled or go back.
   */
  list(mayBeRecalled = false): readonly Lease[] {
    const all = [...this.#needed.values()].map(({ counter, calls }) => ({ ...counter, calls }));
    const isHeld = all.every((lease) => heldCalls(this.#context, lease) >= lease.calls);
    return isHeld && !mayBeRecalled ? [] : all;
  }
}

/** How many calls of a counter this session holds. */
function heldCalls({ leased, snapshot, state }: Context, counter: LeaseCounter): number {
  return leased.has(idOf(counter)) ? callsLeft(snapshot, state, counter) : 0;
}

/** Takes what the hub has leased. An answer about another policy than that in force counts for nothing. */
export function takeLeases(context: Context, answer: LeaseAnswer | undefined, nowMs: number): void {
  const { snapshot, leased } = context;
  if (answer === undefined || answer.policyHash !== snapshot.ref.policy_hash) return;
  for (const { rule, key, calls } of answer.leases) {
    const counter = { rule, key };
    const id = idOf(counter);
    if (!leased.has(id)) {
      makeRoom(leased);
      leased.set(id, counter);
      context.state = withCounterClosed(snapshot, context.state, { counter, nowMs });
    }
    const lease = { ...counter, calls: -calls };
    context.state = withCallsTaken(snapshot, context.state, { lease, nowMs });
  }
  const { terminated } = answer;
  if (terminated !== undefined) context.state = { ...context.state, terminated };
}

function makeRoom(leased: LeasedCounters): void {
  for (const oldest of leased.keys()) {
    if (leased.size < COUNTERS_MAX) return;
    leased.delete(oldest);
  }
}

/** Gives up what is left of these counters, or of all, and says how much that was. */
export function giveUpLeases(
  context: Context,
  nowMs: number,
  counters: Iterable<LeaseCounter> = [...context.leased.values()],
): readonly Lease[] {
  const given: Lease[] = [];
  for (const { rule, key } of counters) {
    const counter = { rule, key };
    const calls = heldCalls(context, counter);
    if (!context.leased.delete(idOf(counter))) continue;
    context.state = withCounterClosed(context.snapshot, context.state, { counter, nowMs });
    if (calls > 0) given.push({ ...counter, calls });
  }
  return given;
}

/** Decides a call by the rules. One whose leases could not be had is not decided by them. */
export function decideWithLeases(step: MessageStep, call: Call): Judgement {
  const { context, nowMs } = step;
  const counters = leasedFor(context, call);
  if (!hasLeases(step, counters)) return hubOutcome(context, undefined);
  const outcome = decide(context.snapshot, call, context.state, nowMs);
  if (counters.length === 0) return outcome;
  return { ...outcome, trace: outcome.trace.map(withoutTally) };
}

/** Whether a call can be decided by what this session holds, or by the word of the hub that there is no more. */
export function mayDecide(step: Pick<MessageStep, 'context' | 'answers'>, call: Call): boolean {
  return hasLeases(step, leasedFor(step.context, call));
}

function hasLeases(
  { context, answers = [] }: Pick<MessageStep, 'context' | 'answers'>,
  counters: readonly LeaseCounter[],
): boolean {
  const { policy_hash } = context.snapshot.ref;
  return counters.every((counter) => {
    if (heldCalls(context, counter) > 0) return true;
    const id = idOf(counter);
    return answers.some(
      ({ leased }) =>
        leased?.policyHash === policy_hash && leased.leases.some((one) => idOf(one) === id),
    );
  });
}

/** What a lease has left says nothing of what the run has used. */
function withoutTally(step: TraceStep): TraceStep {
  return step.kind === 'budget' && step.outcome === 'counted' ? { ...step, tally: null } : step;
}
