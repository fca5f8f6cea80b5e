// `tag`: adds risk classes, which the rules below may match.
import type { RuleOf } from '@subluminal/contracts';
import type { RuleKind } from '../../rule-kind/rule-kind.ts';

export const tag: RuleKind<RuleOf<'tag'>> = {
  role: 'tags',
  examples: { tag: '{ add_risk_class: [write_like] }', add_risk_class: '[write_like]' },
  normalize: (rule) => {
    const classes = [...new Set(rule.effect.tag.add_risk_class)].toSorted();
    return { ...rule, effect: { tag: { add_risk_class: classes } } };
  },
  decide: ({ effect }) => ({ kind: 'tag', classes: effect.tag.add_risk_class }),
  classes: ({ effect }) => effect.tag.add_risk_class,
};
