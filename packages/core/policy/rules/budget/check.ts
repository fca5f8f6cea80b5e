import type { RuleOf } from '@subluminal/contracts';
import { type Finding, missingFinding, type Path } from '../../../source/problem.ts';

export function missingLimit({ effect }: RuleOf<'budget'>, path: Path): readonly Finding[] {
  const { limit_calls, limit_cost_units } = effect.budget;
  if (limit_calls !== undefined || limit_cost_units !== undefined) return [];
  const message = 'a budget needs `limit_calls`, `limit_cost_units` or both';
  return [missingFinding([...path, 'effect', 'budget'], message, 'Add `limit_calls: 100`.')];
}
