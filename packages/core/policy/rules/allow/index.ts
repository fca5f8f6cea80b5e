// `allow`: lets calls pass, whatever the rules below say.
import type { RuleOf } from '@subluminal/contracts';
import { type RuleKind, withReason } from '../../rule-kind/rule-kind.ts';
import { decideAllow } from './decide.ts';
import { ALLOW_FIELDS } from './diff.ts';
import { unanchoredPatterns } from './lint.ts';

export const allow: RuleKind<RuleOf<'allow'>> = {
  role: 'allows',
  examples: { action: 'ALLOW' },
  normalize: (rule) => ({ ...rule, effect: withReason(rule.effect, 'ALLOWLIST_MATCH') }),
  lint: unanchoredPatterns,
  decide: decideAllow,
  fields: ALLOW_FIELDS,
};
