// `rate_limit`: stops calls while a token bucket is empty.
import type { RuleOf } from '@subluminal/contracts';
import { countWords, type RuleKind, withReason } from '../../rule-kind/rule-kind.ts';
import { impossibleBucket } from './check.ts';
import { countRate, type RateLimitSlot, rateLimits } from './decide.ts';
import { RATE_LIMIT_FIELDS } from './diff.ts';

export const rateLimit: RuleKind<RuleOf<'rate_limit'>, RateLimitSlot> = {
  role: 'counts',
  actionField: 'on_limit',
  examples: {
    rate_limit:
      '{ scope: run, capacity: 10, refill_tokens: 10, refill_period_ms: 60000, on_limit: BLOCK }',
    scope: 'run',
    capacity: '10',
    refill_tokens: '10',
    refill_period_ms: '60000',
    on_limit: 'BLOCK',
  },
  check: impossibleBucket,
  normalize: (rule) => {
    const section = { cost_tokens_per_call: 1, ...rule.effect.rate_limit };
    return { ...rule, effect: { ...withReason(rule.effect, 'RATE_LIMITED'), rate_limit: section } };
  },
  tables: (rule) => ({ buckets: rateLimits(rule) }),
  decide: countRate,
  countsAcrossServers: ({ effect }) => effect.rate_limit.scope !== 'server_tool',
  explainCount: (tally) => countWords(tally, 'tokens used'),
  fields: RATE_LIMIT_FIELDS,
};
