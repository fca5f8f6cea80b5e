import type { RuleOf } from '@subluminal/contracts';
import type { Path } from '../../../source/problem.ts';
import {
  action,
  counterScope,
  moreLoosens,
  moreTightens,
  none,
  onlyWith,
  trips,
} from '../../changes/directions.ts';
import { fieldsOf, REFUSAL_FIELDS } from '../../changes/field.ts';
import { type Advice, warning } from '../../model/advice.ts';
import { countWords, type RuleReview } from '../../rule-kind/rule-review.ts';

export const budgetReview: RuleReview<RuleOf<'budget'>> = {
  fields: [
    ...fieldsOf('effect.budget', {
      scope: ['the scope', trips(counterScope)],
      limit_calls: ['the limit of calls', trips(moreLoosens)],
      limit_cost_units: ['the limit of cost', trips(moreLoosens)],
      cost_units_per_call: [
        'the cost of a call',
        onlyWith('effect.budget.limit_cost_units', trips(moreTightens)),
      ],
      limit_usd: ['the limit in dollars', trips(moreLoosens)],
      on_exceed: ['the action', action],
      hint_text: ['the hint text', none],
    }),
    ...REFUSAL_FIELDS,
  ],
  /** A limit that stops the very first call: a deny rule is plainer. */
  lint: ({ effect }, path) => {
    const {
      limit_calls,
      limit_cost_units,
      limit_usd,
      cost_units_per_call: cost = 1,
    } = effect.budget;
    const at = [...path, 'effect', 'budget'];
    const found: Advice[] = [];
    if (limit_calls === 0) found.push(neverPasses([...at, 'limit_calls'], '0 calls'));
    if (limit_usd === 0) found.push(neverPasses([...at, 'limit_usd'], '0 dollars'));
    if (limit_cost_units !== undefined && cost > limit_cost_units) {
      const limit = `${limit_cost_units} cost units, but a call costs ${cost}`;
      found.push(neverPasses([...at, 'limit_cost_units'], limit));
    }
    return found;
  },
  explainCount: (tally) => countWords(tally, 'used'),
};

function neverPasses(path: Path, limit: string): Advice {
  const message = `the budget has ${limit}: no call ever passes`;
  const fix = 'Raise the limit, or write a `deny` rule.';
  return warning('SUB_LINT_NEVER_PASSES', path, [message, fix]);
}
