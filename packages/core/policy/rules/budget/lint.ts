import type { RuleOf } from '@subluminal/contracts';
import type { Path } from '../../../source/problem.ts';
import { type Advice, warning } from '../../model/advice.ts';

/** Limits that stop the very first call: a deny says so more plainly. */
export function impossibleLimits({ effect }: RuleOf<'budget'>, path: Path): readonly Advice[] {
  const { limit_calls, limit_cost_units, cost_units_per_call: cost = 1 } = effect.budget;
  const found: Advice[] = [];
  if (limit_calls === 0)
    found.push(neverPasses([...path, 'effect', 'budget', 'limit_calls'], '0 calls'));
  if (limit_cost_units !== undefined && cost > limit_cost_units) {
    const limit = `${limit_cost_units} cost units, but a call costs ${cost}`;
    found.push(neverPasses([...path, 'effect', 'budget', 'limit_cost_units'], limit));
  }
  return found;
}

function neverPasses(path: Path, limit: string): Advice {
  const words = `the budget has ${limit}: no call ever passes`;
  return warning('SUB_LINT_NEVER_PASSES', path, [
    words,
    'Raise the limit, or write a `deny` rule.',
  ]);
}
