// `approval`: stops calls until a person approves them.
import type { RuleOf } from '@subluminal/contracts';
import { type RuleKind, withReason } from '../../rule-kind/rule-kind.ts';

const TIMEOUT_MS = 300_000;

export const approval: RuleKind<RuleOf<'approval'>> = {
  role: 'asks',
  examples: { approval: '{ wait: hold }', wait: 'hold' },
  normalize: (rule) => {
    const section = { timeout_ms: TIMEOUT_MS, ...rule.effect.approval };
    const effect = { ...withReason(rule.effect, 'APPROVAL_REQUIRED'), approval: section };
    return { ...rule, effect };
  },
  decide: ({ rule_id, effect }, { call, mode }) => {
    if (call.approved?.includes(rule_id)) return { kind: 'approved' };
    const isAsked = mode === 'control';
    const { wait, timeout_ms = 0 } = effect.approval;
    return {
      kind: 'ask',
      trip: {
        // Only control mode asks people. Elsewhere the call is stopped at once.
        action: isAsked ? 'REJECT_WITH_HINT' : 'BLOCK',
        reasonCode: effect.reason_code ?? 'APPROVAL_REQUIRED',
        summary: effect.message ?? 'A person must approve this call first.',
        hintKind: 'SAFETY',
        retryAdvice: 'Try the same call again once it has been approved.',
        ...(isAsked && { approval: { wait, timeout_ms } }),
      },
    };
  },
};
