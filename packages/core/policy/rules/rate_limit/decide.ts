import type { RuleOf } from '@subluminal/contracts';
import { type CallMoment, scopeKey } from '../../counters/scope.ts';
import { keyIn, type Table, type TableLimits, tableGet, tableSet } from '../../counters/table.ts';
import type { Trip } from '../../model/trip.ts';
import type { RuleResult } from '../../rule-kind/rule-kind.ts';

type RateLimitRule = RuleOf<'rate_limit'>;
type RateLimit = RateLimitRule['effect']['rate_limit'];
interface TokenBucket {
  readonly tokens: number;
  readonly refilledAtMs: number;
}
export type RateLimitSlot = { readonly buckets: Table<TokenBucket> };

/** Takes the tokens of one call; a call that finds too few takes none. */
export function countRate(
  rule: RateLimitRule,
  at: CallMoment,
  slot: RateLimitSlot,
): RuleResult<RateLimitSlot> {
  const limit = rule.effect.rate_limit;
  const key = keyIn(slot.buckets, scopeKey(limit.scope, at));
  const bucket = refilled(tableGet(slot.buckets, key), limit, at.nowMs);
  const cost = limit.cost_tokens_per_call ?? 1;
  const enough = bucket.tokens >= cost;
  const value = enough ? { ...bucket, tokens: bucket.tokens - cost } : bucket;
  const buckets = tableSet(slot.buckets, key, { value, nowMs: at.nowMs });
  return {
    kind: 'count',
    slot: { buckets },
    tally: { count: limit.capacity - value.tokens, limit: limit.capacity },
    trip: enough ? undefined : limited(rule, waitMs(bucket, limit, at.nowMs)),
  };
}

/** Tokens arrive at the end of each whole period; the rest of a period is never lost. */
function refilled(known: TokenBucket | undefined, limit: RateLimit, nowMs: number): TokenBucket {
  if (known === undefined) return { tokens: limit.capacity, refilledAtMs: nowMs };
  // A reload may have made the bucket smaller: that holds from the next call on.
  const tokens = Math.min(limit.capacity, known.tokens);
  // The clock went backwards: start the period anew, give nothing.
  if (nowMs < known.refilledAtMs) return { tokens, refilledAtMs: nowMs };
  const periods = Math.floor((nowMs - known.refilledAtMs) / limit.refill_period_ms);
  if (periods === 0) return { tokens, refilledAtMs: known.refilledAtMs };
  return {
    tokens: Math.min(limit.capacity, tokens + periods * limit.refill_tokens),
    refilledAtMs: known.refilledAtMs + periods * limit.refill_period_ms,
  };
}

function waitMs(bucket: TokenBucket, limit: RateLimit, nowMs: number): number {
  const missing = (limit.cost_tokens_per_call ?? 1) - bucket.tokens;
  const periods = Math.ceil(missing / limit.refill_tokens);
  return bucket.refilledAtMs + periods * limit.refill_period_ms - nowMs;
}

function limited(rule: RateLimitRule, untilMs: number): Trip {
  const { rate_limit: limit, reason_code, message } = rule.effect;
  const calls = Math.floor(limit.capacity / (limit.cost_tokens_per_call ?? 1));
  return {
    action: limit.on_limit,
    reasonCode: reason_code ?? 'RATE_LIMITED',
    summary: message ?? `Too many calls at once: at most ${calls} before a pause.`,
    hintKind: 'RATE',
    ...(limit.hint_text !== undefined && { hintText: limit.hint_text }),
    retryAdvice: `Wait ${untilMs} ms, then try again.`,
    ...(limit.backoff_ms !== undefined && { backoffMs: limit.backoff_ms }),
  };
}

/** A bucket that had time to fill up is the same as a new one, so it may be forgotten then. */
export function rateLimits({ effect: { rate_limit: limit } }: RateLimitRule): TableLimits {
  const periods = Math.ceil(limit.capacity / limit.refill_tokens);
  return { lifeMs: periods * limit.refill_period_ms, whenFull: 'share' };
}
