import type { RuleOf } from '@subluminal/contracts';
import { classes } from '../../changes/directions.ts';
import { fieldsOf } from '../../changes/field.ts';
import type { RuleReview } from '../../rule-kind/rule-review.ts';

export const tagReview: RuleReview<RuleOf<'tag'>> = {
  fields: fieldsOf('effect.tag', {
    add_risk_class: ['the classes', classes],
  }),
};
