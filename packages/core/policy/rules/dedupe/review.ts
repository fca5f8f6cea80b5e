import type { RuleOf } from '@subluminal/contracts';
import { quote } from '../../../text/visible.ts';
import { action, alters, callScope, moreTightens, none, trips } from '../../changes/directions.ts';
import { fieldsOf, REFUSAL_FIELDS } from '../../changes/field.ts';
import { matchesAll } from '../../match/cover.ts';
import { warning } from '../../model/advice.ts';
import type { RuleReview } from '../../rule-kind/rule-review.ts';

export const dedupeReview: RuleReview<RuleOf<'dedupe'>> = {
  fields: [
    ...fieldsOf('effect.dedupe', {
      scope: ['the scope', trips(callScope)],
      window_ms: ['the window', trips(moreTightens)],
      key: ['the key', alters],
      on_duplicate: ['the action', action],
      hint_text: ['the hint text', none],
    }),
    ...REFUSAL_FIELDS,
  ],
  /** Reading the same thing twice is no accident. */
  lint: (rule, path) => {
    if (rule.when !== undefined || !matchesAll(rule.match)) return [];
    const message = `${quote(rule.rule_id)} refuses repeated reads too`;
    const fix = 'Match the calls that write, like `risk_class: [write_like]`.';
    return [warning('SUB_LINT_BROAD_DEDUPE', [...path, 'match'], [message, fix])];
  },
  explainCount: () => 'the same call has not passed within its window',
};
