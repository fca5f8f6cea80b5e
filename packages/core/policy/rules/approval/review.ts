import type { RuleOf } from '@subluminal/contracts';
import { quote } from '../../../text/visible.ts';
import { alters } from '../../changes/directions.ts';
import { fieldsOf, REFUSAL_FIELDS } from '../../changes/field.ts';
import { warning } from '../../model/advice.ts';
import type { RuleReview } from '../../rule-kind/rule-review.ts';

export const approvalReview: RuleReview<RuleOf<'approval'>> = {
  fields: [
    ...fieldsOf('effect.approval', {
      wait: ['the way of waiting', alters],
      timeout_ms: ['the time that a person has', alters],
    }),
    ...REFUSAL_FIELDS,
  ],
  /** Only control mode asks people. */
  lint: ({ rule_id }, path, { mode }) => {
    if (mode === 'control') return [];
    const instead = mode === 'observe' ? 'only records what it would do' : 'blocks at once';
    const message = `${quote(rule_id)} asks nobody in ${mode} mode: it ${instead}`;
    const fix = 'Write `mode: control`.';
    return [warning('SUB_LINT_APPROVAL_MODE', [...path, 'kind'], [message, fix])];
  },
};
