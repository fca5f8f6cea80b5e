// `rate_limit`: stops calls while a token bucket is empty.
import type { RuleOf } from '@subluminal/contracts';
import {
  conflictFinding,
  type Finding,
  missingFinding,
  type Path,
} from '../../../source/problem.ts';
import { type CallMoment, scopeKey } from '../../counters/scope.ts';
import { type CounterTable, keyIn, tableGet, tableSet } from '../../counters/table.ts';
import type { Trip } from '../../model/trip.ts';
import { type RuleKind, type RuleResult, withReason } from '../../rule-kind/rule-kind.ts';

type RateLimitRule = RuleOf<'rate_limit'>;
type RateLimit = RateLimitRule['effect']['rate_limit'];
interface TokenBucket {
  readonly tokens: number;
  readonly refilledAtMs: number;
}
export type RateLimitSlot = { readonly buckets: CounterTable<TokenBucket> };

export const rateLimit: RuleKind<RateLimitRule, RateLimitSlot> = {
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
  check: checkBucket,
  normalize: (rule) => {
    const section = { cost_tokens_per_call: 1, ...rule.effect.rate_limit };
    return { ...rule, effect: { ...withReason(rule.effect, 'RATE_LIMITED'), rate_limit: section } };
  },
  /** A bucket that had time to fill up is the same as a new one, so it may be forgotten then. */
  tables: ({ effect: { rate_limit: limit } }) => {
    const periods = Math.ceil(limit.capacity / limit.refill_tokens);
    return { buckets: { lifeMs: periods * limit.refill_period_ms, whenFull: 'share' } };
  },
  decide: countRate,
  countsAcrossServers: ({ effect }) => effect.rate_limit.scope !== 'server_tool',
};

function checkBucket({ effect }: RateLimitRule, path: Path): readonly Finding[] {
  const { on_limit, backoff_ms, capacity, cost_tokens_per_call: cost = 1 } = effect.rate_limit;
  const at = [...path, 'effect', 'rate_limit'];
  const found: Finding[] = [];
  if (on_limit === 'THROTTLE' && backoff_ms === undefined) {
    const message = 'THROTTLE needs `backoff_ms`: how long the agent should wait';
    found.push(missingFinding(at, message, 'Add `backoff_ms: 1000`.'));
  }
  if (cost > capacity) {
    const message = `one call costs ${cost} tokens, but the bucket holds ${capacity}: none ever passes`;
    const fix = 'Raise `capacity`, or lower `cost_tokens_per_call`.';
    found.push(conflictFinding([...at, 'cost_tokens_per_call'], message, fix));
  }
  return found;
}

/** Takes the tokens of one call; a call that finds too few takes none. */
function countRate(
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
