// Calls that are moved between counters: a lease takes them out of one, and puts them into another.
import type { Lease, LeaseCounter } from '@subluminal/contracts/hub-frames';
import { type CompiledRule, type Layout, policiesIn, type Snapshot } from '../compile/snapshot.ts';
import type { PolicyState } from '../decide/verdict.ts';
import type { Leasing, RuleSlot } from '../rule-kind/rule-kind.ts';

/** A rule whose counter may be leased. */
export interface LeasableRule {
  readonly compiled: CompiledRule;
  readonly leasing: Leasing;
}

const byOwner = new WeakMap<Layout, ReadonlyMap<string, LeasableRule>>();

/** The rule of a counter; undefined when it has none that may be leased. */
export function leasableRule(snapshot: Snapshot, owner: string): LeasableRule | undefined {
  const { layout } = snapshot;
  const found = byOwner.get(layout) ?? leasableRules(snapshot);
  byOwner.set(layout, found);
  return found.get(owner);
}

function leasableRules(snapshot: Snapshot): ReadonlyMap<string, LeasableRule> {
  const found = new Map<string, LeasableRule>();
  for (const compiled of policiesIn(snapshot).flatMap(({ rules }) => rules)) {
    const { rule, kind, slot } = compiled;
    const { leasing } = kind;
    if (leasing?.allows(rule) !== true || kind.countsAcrossServers?.(rule) !== true) continue;
    found.set(snapshot.layout.owners[slot] ?? '', { compiled, leasing });
  }
  return found;
}

/** How many calls a counter lets pass; none when it may not be leased. */
export function callsLeft(snapshot: Snapshot, state: PolicyState, counter: LeaseCounter): number {
  const found = leasableRule(snapshot, counter.rule);
  if (found === undefined) return 0;
  const { compiled, leasing } = found;
  const slot = state.slots[compiled.slot];
  return slot === undefined ? 0 : leasing.left(compiled.rule, counter.key, slot);
}

/** The state after calls were taken out of a counter; a negative number puts calls in. */
export function withCallsTaken(
  snapshot: Snapshot,
  state: PolicyState,
  { lease, nowMs }: { readonly lease: Lease; readonly nowMs: number },
): PolicyState {
  const { rule: owner, key, calls } = lease;
  return changed(snapshot, state, {
    owner,
    slotOf: ({ compiled, leasing }, slot) =>
      leasing.take(compiled.rule, { key, calls, nowMs }, slot),
  });
}

/** The state with no call left in a counter. */
export function withCounterClosed(
  snapshot: Snapshot,
  state: PolicyState,
  { counter, nowMs }: { readonly counter: LeaseCounter; readonly nowMs: number },
): PolicyState {
  const { rule: owner, key } = counter;
  return changed(snapshot, state, {
    owner,
    slotOf: ({ compiled, leasing }, slot) => leasing.close(compiled.rule, { key, nowMs }, slot),
  });
}

interface SlotChange {
  readonly owner: string;
  readonly slotOf: (found: LeasableRule, slot: RuleSlot) => RuleSlot;
}

function changed(
  snapshot: Snapshot,
  state: PolicyState,
  { owner, slotOf }: SlotChange,
): PolicyState {
  const found = leasableRule(snapshot, owner);
  if (found === undefined) return state;
  const known = state.slots[found.compiled.slot];
  if (known === undefined) return state;
  const slots = state.slots.slice();
  slots[found.compiled.slot] = slotOf(found, known);
  return { ...state, slots };
}

/** The counters of these rules for a call. */
export function countersOf(
  snapshot: Snapshot,
  rules: readonly CompiledRule[],
  call: Parameters<Leasing['key']>[1],
): readonly LeaseCounter[] {
  return rules.map(({ rule, kind, slot }) => ({
    rule: snapshot.layout.owners[slot] ?? '',
    key: kind.leasing?.key(rule, call) ?? '',
  }));
}
