import type { RuleOf } from '@subluminal/contracts';
import type { CallMoment } from '../../counters/scope.ts';
import type { RuleResult } from '../../rule-kind/rule-kind.ts';

export function decideApproval(
  { rule_id, effect }: RuleOf<'approval'>,
  { call, mode }: CallMoment,
): RuleResult {
  if (call.approved?.includes(rule_id)) return { kind: 'approved' };
  const isAsked = mode === 'control';
  const { reason_code, message } = effect;
  const { wait, timeout_ms = 0 } = effect.approval;
  const trip = {
    // Only control mode asks people. Elsewhere the call is stopped at once.
    action: isAsked ? 'REJECT_WITH_HINT' : 'BLOCK',
    reasonCode: reason_code ?? 'APPROVAL_REQUIRED',
    summary: message ?? 'A person must approve this call first.',
    hintKind: 'SAFETY',
    retryAdvice: 'Try the same call again once it has been approved.',
    ...(isAsked && { approval: { wait, timeout_ms } }),
  } as const;
  return { kind: 'ask', trip };
}
