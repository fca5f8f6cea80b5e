// `deny`: stops calls.
import type { RuleOf } from '@subluminal/contracts';
import { type RuleKind, withReason } from '../../rule-kind/rule-kind.ts';

export const deny: RuleKind<RuleOf<'deny'>> = {
  role: 'denies',
  examples: { action: 'BLOCK' },
  normalize: (rule) => ({ ...rule, effect: withReason(rule.effect, 'DENYLIST_MATCH') }),
  /** In control mode a denial with a hint answers with the hint instead of a block. */
  decide: ({ effect: { reason_code, message, hint } }, { mode }) => ({
    kind: 'stop',
    trip: {
      action: mode === 'control' && hint !== undefined ? 'REJECT_WITH_HINT' : 'BLOCK',
      reasonCode: reason_code ?? 'DENYLIST_MATCH',
      summary: message ?? 'A rule denies this call.',
      hintKind: 'SAFETY',
    },
  }),
};
