// `deny`: stops calls.
import type { RuleOf } from '@subluminal/contracts';
import { type RuleKind, withReason } from '../../rule-kind/rule-kind.ts';
import { decideDeny } from './decide.ts';
import { DENY_FIELDS } from './diff.ts';

export const deny: RuleKind<RuleOf<'deny'>> = {
  role: 'denies',
  examples: { action: 'BLOCK' },
  normalize: (rule) => ({ ...rule, effect: withReason(rule.effect, 'DENYLIST_MATCH') }),
  decide: decideDeny,
  fields: DENY_FIELDS,
};
