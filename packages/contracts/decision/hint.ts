import { check } from '../shape/check.ts';
import { HINT, type Hint } from './decision.ts';

/**
 * Suggested arguments can be as large as what the agent sent. A hint must not fail for that: beyond
 * the limits of free-form values it goes without them.
 */
export function boundedHint(hint: Hint): Hint {
  const first = check(HINT.fields.suggested_args.shape, hint.suggested_args)[0];
  return first?.problem === 'value' ? { ...hint, suggested_args: null } : hint;
}
