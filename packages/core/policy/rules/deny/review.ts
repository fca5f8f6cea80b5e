import type { RuleOf } from '@subluminal/contracts';
import { type ChangeDirection, hint } from '../../changes/directions.ts';
import { ACTION_FIELDS, fieldsOf, REASON_FIELDS } from '../../changes/field.ts';
import type { RuleReview } from '../../rule-kind/rule-review.ts';

/** In control mode a denial with a hint answers with the hint instead of a block. */
const denialHint: ChangeDirection = (change) =>
  change.before === undefined || change.after === undefined ? 'alters' : hint(change);

export const denyReview: RuleReview<RuleOf<'deny'>> = {
  fields: [
    ...ACTION_FIELDS,
    ...REASON_FIELDS,
    ...fieldsOf('effect', { hint: ['the hint', denialHint] }),
  ],
};
