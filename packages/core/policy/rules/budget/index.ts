// `budget`: stops calls when a run has made enough of them.
import type { RuleOf } from '@subluminal/contracts';
import { countWords, type RuleKind, withReason } from '../../rule-kind/rule-kind.ts';
import { missingLimit } from './check.ts';
import { BUDGET_LIMITS, type BudgetSlot, countBudget } from './decide.ts';
import { BUDGET_FIELDS } from './diff.ts';
import { impossibleLimits } from './lint.ts';

export const budget: RuleKind<RuleOf<'budget'>, BudgetSlot> = {
  role: 'counts',
  actionField: 'on_exceed',
  examples: {
    budget: '{ scope: run, limit_calls: 100, on_exceed: BLOCK }',
    scope: 'run',
    on_exceed: 'BLOCK',
  },
  check: missingLimit,
  normalize: (rule) => {
    const section = { cost_units_per_call: 1, ...rule.effect.budget };
    return { ...rule, effect: { ...withReason(rule.effect, 'BUDGET_EXCEEDED'), budget: section } };
  },
  lint: impossibleLimits,
  tables: () => ({ used: BUDGET_LIMITS }),
  decide: countBudget,
  countsAcrossServers: ({ effect }) => effect.budget.scope !== 'server_tool',
  explainCount: (tally) => countWords(tally, 'used'),
  fields: BUDGET_FIELDS,
};
