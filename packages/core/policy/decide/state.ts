// What a policy remembers of one run: an immutable value, given to `decide` and returned anew.
import { type CompiledRule, type Layout, policiesIn, type Snapshot } from '../compile/snapshot.ts';
import { type CounterTable, emptyTable, type TableLimits, withLimits } from '../counters/table.ts';
import type { RuleSlot } from '../rule-kind/rule-kind.ts';

export interface Termination {
  readonly rule_id: string;
  readonly terminate_code: string;
  readonly terminate_message: string;
}

export interface PolicyState {
  readonly layout: Layout;
  readonly slots: readonly RuleSlot[];
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
function statefulRules(snapshot: Snapshot): readonly CompiledRule[] {
  const rules = policiesIn(snapshot).flatMap((policy) => policy.rules);
  return rules.filter(({ slot }) => slot >= 0);
}

/** The state after a call that did not pass in the end: no rule remembers that it let it pass. */
export function withoutMarks(
  snapshot: Snapshot,
  before: PolicyState,
  after: PolicyState,
): PolicyState {
  if (before.layout !== after.layout) return after;
  const slots = after.slots.slice();
  for (const { kind, slot } of policiesIn(snapshot).flatMap(({ rules }) => rules)) {
    const old = before.slots[slot];
    if (kind.passed !== undefined && old !== undefined) slots[slot] = old;
  }
  return { ...after, slots };
}

/** A rule's slot, with what it has counted so far. */
function slotFor({ rule, kind }: CompiledRule, known: RuleSlot | undefined): RuleSlot {
  const limits = Object.entries(kind.tables?.(rule) ?? {});
  return Object.fromEntries(limits.map(([name, one]) => [name, tableFor(known?.[name], one)]));
}

function tableFor<V>(known: CounterTable<V> | undefined, limits: TableLimits): CounterTable<V> {
  return known === undefined ? emptyTable(limits) : withLimits(known, limits);
}
