// What Cedar says → a decision as contract C has it.
import type { Decision } from '@subluminal/contracts';
import type { CedarAnswer } from './types.ts';

/** Undefined where Cedar lets the call pass. */
export function cedarRefusal(answer: CedarAnswer): Decision | undefined {
  if (answer.decision === 'allow') return undefined;
  const { cause, speaker, message, hint, reasonCode } = answer;
  const unavailable = cause === 'engine';
  const base = {
    rule_id: speaker === null ? null : `cedar:${speaker}`,
    severity: unavailable ? ('critical' as const) : ('warn' as const),
    reason_code: reasonCode ?? (unavailable ? 'CEDAR_UNAVAILABLE' : 'CEDAR_DENIED'),
    summary: message ?? 'The Cedar policies deny this call.',
  };
  if (hint === null) return { ...base, action: 'BLOCK' };
  return {
    ...base,
    action: 'REJECT_WITH_HINT',
    hint: { hint_text: hint, suggested_args: null, retry_advice: null, hint_kind: 'SAFETY' },
  };
}
