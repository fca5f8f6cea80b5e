import type { RuleOf } from '@subluminal/contracts';
import {
  action,
  alters,
  counterScope,
  moreLoosens,
  moreTightens,
  none,
  trips,
} from '../../changes/directions.ts';
import { fieldsOf, REFUSAL_FIELDS } from '../../changes/field.ts';
import { countWords, type RuleReview } from '../../rule-kind/rule-review.ts';

export const rateLimitReview: RuleReview<RuleOf<'rate_limit'>> = {
  fields: [
    ...fieldsOf('effect.rate_limit', {
      scope: ['the scope', trips(counterScope)],
      capacity: ['the capacity', trips(moreLoosens)],
      refill_tokens: ['the refill', trips(moreLoosens)],
      refill_period_ms: ['the refill period', trips(moreTightens)],
      cost_tokens_per_call: ['the cost of a call', trips(moreTightens)],
      on_limit: ['the action', action],
      backoff_ms: ['the pause that is asked for', alters],
      hint_text: ['the hint text', none],
    }),
    ...REFUSAL_FIELDS,
  ],
  explainCount: (tally) => countWords(tally, 'tokens used'),
};
