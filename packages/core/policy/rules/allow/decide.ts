import type { RuleOf } from '@subluminal/contracts';
import type { RuleResult } from '../../rule-kind/rule-kind.ts';

export function decideAllow({ effect }: RuleOf<'allow'>): RuleResult {
  const { reason_code = 'ALLOWLIST_MATCH', message = 'A rule allows this call.' } = effect;
  return { kind: 'allow', reasonCode: reason_code, summary: message };
}
