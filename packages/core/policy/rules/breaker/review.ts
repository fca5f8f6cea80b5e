import type { RuleOf } from '@subluminal/contracts';
import { combineEffects } from '../../changes/change.ts';
import {
  action,
  alters,
  type ChangeDirection,
  callScope,
  counterScope,
  moreLoosens,
  moreTightens,
  none,
  onlyWith,
  trips,
} from '../../changes/directions.ts';
import { fieldsOf, REFUSAL_FIELDS } from '../../changes/field.ts';
import { countWords, type RuleReview } from '../../rule-kind/rule-review.ts';

/** Errors are counted by counter, repeats by call. */
const scopes: ChangeDirection = (change) =>
  combineEffects([
    onlyWith('effect.breaker.error_threshold', counterScope)(change),
    onlyWith('effect.breaker.repeat_threshold', callScope)(change),
  ]);

export const breakerReview: RuleReview<RuleOf<'breaker'>> = {
  fields: [
    ...fieldsOf('effect.breaker', {
      scope: ['the scope', trips(scopes)],
      error_threshold: ['the number of errors that trips it', trips(moreLoosens)],
      window_ms: ['the window for errors', trips(moreTightens)],
      repeat_threshold: ['the number of repeats that trips it', trips(moreLoosens)],
      repeat_window_ms: ['the window for repeats', trips(moreTightens)],
      on_trip: ['the action', action],
      terminate_code: ['the code that ends the run', alters],
      hint_text: ['the hint text', none],
    }),
    ...REFUSAL_FIELDS,
  ],
  explainCount: (tally) => countWords(tally, 'towards tripping'),
};
