// `allow`: lets calls pass, whatever the rules below say.
import type { RuleOf } from '@subluminal/contracts';
import { type RuleKind, withReason } from '../../rule-kind/rule-kind.ts';

export const allow: RuleKind<RuleOf<'allow'>> = {
  role: 'allows',
  examples: { action: 'ALLOW' },
  normalize: (rule) => ({ ...rule, effect: withReason(rule.effect, 'ALLOWLIST_MATCH') }),
  decide: ({ effect }) => {
    const { reason_code = 'ALLOWLIST_MATCH', message = 'A rule allows this call.' } = effect;
    return { kind: 'allow', reasonCode: reason_code, summary: message };
  },
};
