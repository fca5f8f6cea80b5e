import type { RuleOf } from '@subluminal/contracts';
import type { CallMoment } from '../../counters/scope.ts';
import type { RuleResult } from '../../rule-kind/rule-kind.ts';

/** In control mode a denial with a hint answers with the hint instead of a block. */
export function decideDeny({ effect }: RuleOf<'deny'>, { mode }: CallMoment): RuleResult {
  const { reason_code, message, hint } = effect;
  const trip = {
    action: mode === 'control' && hint !== undefined ? 'REJECT_WITH_HINT' : 'BLOCK',
    reasonCode: reason_code ?? 'DENYLIST_MATCH',
    summary: message ?? 'A rule denies this call.',
    hintKind: 'SAFETY',
  } as const;
  return { kind: 'stop', trip };
}
