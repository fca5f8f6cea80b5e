// What the rules had to say about a call, as the hub tells it.
import { nullable, number, oneOf, open, required, string } from './shape/shape.ts';

/** What one matching rule had to say; see `sub policy explain`. */
export const TRACE_STEP = open({
  rule_id: required(string(), 'The rule.'),
  kind: required(
    oneOf('allow', 'deny', 'budget', 'rate_limit', 'breaker', 'dedupe', 'tag', 'approval'),
    'Its kind.',
  ),
  outcome: required(
    oneOf('decided', 'would_decide', 'counted', 'tagged', 'asks', 'approved', 'failed'),
    'What it did.',
  ),
  tally: required(
    nullable(
      open({
        count: required(number(), 'What its counter stands at.'),
        limit: required(number(), 'Where it ends.'),
      }),
    ),
    'Its counter, if it has one.',
  ),
  note: required(nullable(string({ lengthMin: 0 })), 'Why it failed, when it did.'),
});
