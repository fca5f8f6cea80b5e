// `tag`: adds risk classes, which the rules below may match.
import type { RuleOf } from '@subluminal/contracts';
import type { RuleKind } from '../../rule-kind/rule-kind.ts';
import { addedClasses, decideTag } from './decide.ts';
import { TAG_FIELDS } from './diff.ts';

export const tag: RuleKind<RuleOf<'tag'>> = {
  role: 'tags',
  examples: { tag: '{ add_risk_class: [write_like] }', add_risk_class: '[write_like]' },
  normalize: (rule) => {
    const classes = [...new Set(addedClasses(rule))].toSorted();
    return { ...rule, effect: { tag: { add_risk_class: classes } } };
  },
  decide: decideTag,
  classes: addedClasses,
  fields: TAG_FIELDS,
};
