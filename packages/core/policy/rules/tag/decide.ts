import type { RuleOf } from '@subluminal/contracts';
import type { RuleResult } from '../../rule-kind/rule-kind.ts';

export function addedClasses({ effect }: RuleOf<'tag'>): readonly string[] {
  return effect.tag.add_risk_class;
}

export function decideTag(rule: RuleOf<'tag'>): RuleResult {
  return { kind: 'tag', classes: addedClasses(rule) };
}
