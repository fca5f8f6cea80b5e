import type { RuleOf } from '@subluminal/contracts';
import { type CallMoment, scopeKey } from '../../counters/scope.ts';
import { keyIn, type Table, type TableLimits, tableGet, tableSet } from '../../counters/table.ts';
import type { Tally, Trip } from '../../model/trip.ts';
import type { RuleResult } from '../../rule-kind/rule-kind.ts';

type BudgetRule = RuleOf<'budget'>;
export type BudgetSlot = {
  readonly used: Table<{ readonly calls: number; readonly costUnits: number }>;
};

/** A budget holds for the whole run, so nothing in it expires. */
export const BUDGET_LIMITS: TableLimits = { lifeMs: Number.POSITIVE_INFINITY, whenFull: 'share' };

/** Counts one call; a call that the budget itself stops is not counted again. */
export function countBudget(
  rule: BudgetRule,
  at: CallMoment,
  slot: BudgetSlot,
): RuleResult<BudgetSlot> {
  const { budget } = rule.effect;
  const key = keyIn(slot.used, scopeKey(budget.scope, at));
  const used = tableGet(slot.used, key) ?? { calls: 0, costUnits: 0 };
  const calls = used.calls + 1;
  const costUnits = used.costUnits + (budget.cost_units_per_call ?? 1);
  const callsLimit = budget.limit_calls ?? Number.POSITIVE_INFINITY;
  const costLimit = budget.limit_cost_units ?? Number.POSITIVE_INFINITY;
  const byCalls = calls > callsLimit;
  const onCost = budget.limit_calls === undefined || (!byCalls && costUnits > costLimit);
  const tally = onCost
    ? { count: used.costUnits, limit: costLimit }
    : { count: used.calls, limit: callsLimit };
  if (byCalls || costUnits > costLimit) {
    const trip = exceeded(rule, tally, onCost ? 'cost units' : 'calls');
    return { kind: 'count', slot, tally, trip };
  }
  const entry = { value: { calls, costUnits }, nowMs: at.nowMs };
  return {
    kind: 'count',
    slot: { used: tableSet(slot.used, key, entry) },
    tally: { count: onCost ? costUnits : calls, limit: tally.limit },
    trip: undefined,
  };
}

function exceeded(rule: BudgetRule, tally: Tally, unit: string): Trip {
  const { budget, reason_code, message } = rule.effect;
  return {
    action: budget.on_exceed,
    reasonCode: reason_code ?? 'BUDGET_EXCEEDED',
    summary: message ?? `The budget is used up: ${tally.count} of ${tally.limit} ${unit}.`,
    hintKind: 'BUDGET',
    ...(budget.hint_text !== undefined && { hintText: budget.hint_text }),
    retryAdvice: 'Do not repeat this call in this run; finish with what you have.',
    terminateCode: 'BUDGET_EXCEEDED',
  };
}
