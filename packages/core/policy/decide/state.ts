// What a policy remembers of one run: an immutable value, given to `decide` and returned anew.
import type { Rule } from '@subluminal/contracts';
import { type Layout, policiesIn, type Snapshot } from '../compile/snapshot.ts';
import { emptyTable, type Table, type TableLimits, withLimits } from '../counters/table.ts';
import { breakerLimits } from './breaker.ts';
import { BUDGET_LIMITS } from './budget.ts';
import { dedupeLimits } from './dedupe.ts';
import { rateLimits } from './rate-limit.ts';

interface BudgetUse {
  readonly calls: number;
  readonly costUnits: number;
}
export interface TokenBucket {
  readonly tokens: number;
  readonly refilledAtMs: number;
}
/** Times of counted events, oldest first; never more than a rule's threshold. */
export type Times = readonly number[];

/** The tables of one stateful rule; which of them it uses depends on its kind. */
export type Slot =
  | { readonly kind: 'budget'; readonly used: Table<BudgetUse> }
  | { readonly kind: 'rate_limit'; readonly buckets: Table<TokenBucket> }
  | { readonly kind: 'breaker'; readonly errors: Table<Times>; readonly repeats: Table<Times> }
  | { readonly kind: 'dedupe'; readonly seen: Table<number> };
export type SlotOf<K extends Slot['kind']> = Extract<Slot, { readonly kind: K }>;

export interface Termination {
  readonly rule_id: string;
  readonly terminate_code: string;
  readonly terminate_message: string;
}

export interface PolicyState {
  readonly layout: Layout;
  readonly slots: readonly Slot[];
  /** Set once an enforcing rule has ended the run: nothing passes after that. */
  readonly terminated: Termination | null;
}

/** The state of a run that has not made a call yet. */
export function initialState(snapshot: Snapshot): PolicyState {
  const slots = statefulRules(snapshot).map((rule) => slotFor(rule, undefined));
  return { layout: snapshot.layout, slots, terminated: null };
}

/** Carries counters into another snapshot: a rule of the same id and kind keeps its own. */
export function carryState(state: PolicyState, snapshot: Snapshot): PolicyState {
  if (state.layout === snapshot.layout) return state;
  const slots = statefulRules(snapshot).map((rule, index) => {
    const owner = snapshot.layout.owners[index] ?? '';
    return slotFor(rule, state.slots[state.layout.owners.indexOf(owner)]);
  });
  return { layout: snapshot.layout, slots, terminated: state.terminated };
}

/** In the order of the layout. */
function statefulRules(snapshot: Snapshot): readonly Rule[] {
  const rules = policiesIn(snapshot).flatMap((policy) => policy.rules);
  return rules.filter(({ slot }) => slot >= 0).map(({ rule }) => rule);
}

/** A call that did not pass in the end: its retry is no duplicate, whoever had let it pass. */
export function withoutDedupeMarks(before: PolicyState, after: PolicyState): PolicyState {
  if (before.layout !== after.layout) return after;
  const slots = after.slots.map((slot, index) =>
    slot.kind === 'dedupe' ? (before.slots[index] ?? slot) : slot,
  );
  return { ...after, slots };
}

/** A rule's slot, with what it has counted so far. */
function slotFor(rule: Rule, known: Slot | undefined): Slot {
  switch (rule.kind) {
    case 'budget': {
      const used = known?.kind === 'budget' ? known.used : undefined;
      return { kind: 'budget', used: tableFor(used, BUDGET_LIMITS) };
    }
    case 'rate_limit': {
      const buckets = known?.kind === 'rate_limit' ? known.buckets : undefined;
      return { kind: 'rate_limit', buckets: tableFor(buckets, rateLimits(rule)) };
    }
    case 'breaker': {
      const limits = breakerLimits(rule);
      const { errors, repeats } = known?.kind === 'breaker' ? known : {};
      return {
        kind: 'breaker',
        errors: tableFor(errors, limits.errors),
        repeats: tableFor(repeats, limits.repeats),
      };
    }
    case 'dedupe': {
      const seen = known?.kind === 'dedupe' ? known.seen : undefined;
      return { kind: 'dedupe', seen: tableFor(seen, dedupeLimits(rule)) };
    }
    default:
      throw new Error(`a ${rule.kind} rule keeps no state`);
  }
}

function tableFor<V>(known: Table<V> | undefined, limits: TableLimits): Table<V> {
  return known === undefined ? emptyTable(limits) : withLimits(known, limits);
}
