// `budget`: stops calls when a run has made enough of them.
import type { RuleOf } from '@subluminal/contracts';
import { missingFinding } from '../../../source/problem.ts';
import { type CallMoment, scopeKey } from '../../counters/scope.ts';
import { type CounterTable, keyIn, tableGet, tableSet } from '../../counters/table.ts';
import type { Tally, Trip } from '../../model/trip.ts';
import { type RuleKind, type RuleResult, withReason } from '../../rule-kind/rule-kind.ts';

type BudgetRule = RuleOf<'budget'>;
type BudgetSlot = {
  readonly used: CounterTable<{ readonly calls: number; readonly costUnits: number }>;
};

export const budget: RuleKind<BudgetRule, BudgetSlot> = {
  role: 'counts',
  actionField: 'on_exceed',
  examples: {
    budget: '{ scope: run, limit_calls: 100, on_exceed: BLOCK }',
    scope: 'run',
    on_exceed: 'BLOCK',
  },
  check: ({ effect }, path) => {
    const { limit_calls, limit_cost_units } = effect.budget;
    if (limit_calls !== undefined || limit_cost_units !== undefined) return [];
    const message = 'a budget needs `limit_calls`, `limit_cost_units` or both';
    return [missingFinding([...path, 'effect', 'budget'], message, 'Add `limit_calls: 100`.')];
  },
  normalize: (rule) => {
    const section = { cost_units_per_call: 1, ...rule.effect.budget };
    return { ...rule, effect: { ...withReason(rule.effect, 'BUDGET_EXCEEDED'), budget: section } };
  },
  /** A budget holds for the whole run, so nothing in it expires. */
  tables: () => ({ used: { lifeMs: Number.POSITIVE_INFINITY, whenFull: 'share' } }),
  decide: countBudget,
  countsAcrossServers: ({ effect }) => effect.budget.scope !== 'server_tool',
};

/** Counts one call; a call that the budget itself stops is not counted again. */
function countBudget(rule: BudgetRule, at: CallMoment, slot: BudgetSlot): RuleResult<BudgetSlot> {
  const section = rule.effect.budget;
  const key = keyIn(slot.used, scopeKey(section.scope, at));
  const used = tableGet(slot.used, key) ?? { calls: 0, costUnits: 0 };
  const calls = used.calls + 1;
  const costUnits = used.costUnits + (section.cost_units_per_call ?? 1);
  const callsLimit = section.limit_calls ?? Number.POSITIVE_INFINITY;
  const costLimit = section.limit_cost_units ?? Number.POSITIVE_INFINITY;
  const byCalls = calls > callsLimit;
  const onCost = section.limit_calls === undefined || (!byCalls && costUnits > costLimit);
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
  const { budget: section, reason_code, message } = rule.effect;
  return {
    action: section.on_exceed,
    reasonCode: reason_code ?? 'BUDGET_EXCEEDED',
    summary: message ?? `The budget is used up: ${tally.count} of ${tally.limit} ${unit}.`,
    hintKind: 'BUDGET',
    ...(section.hint_text !== undefined && { hintText: section.hint_text }),
    retryAdvice: 'Do not repeat this call in this run; finish with what you have.',
    terminateCode: 'BUDGET_EXCEEDED',
  };
}
