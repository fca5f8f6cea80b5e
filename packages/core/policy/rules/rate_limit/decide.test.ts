import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { tableGet } from '../../counters/table.ts';
import { rateLimit, runOf, snapshotOf } from '../../testing/scenario.ts';
import type { RateLimitSlot } from './index.ts';

const limits = fc.record({
  capacity: fc.integer({ min: 1, max: 6 }),
  refill_tokens: fc.integer({ min: 1, max: 4 }),
  refill_period_ms: fc.integer({ min: 1, max: 50 }),
  cost_tokens_per_call: fc.integer({ min: 1, max: 3 }),
});
type Limits = typeof limits extends fc.Arbitrary<infer T> ? T : never;

async function bucketRun(limit: Limits) {
  const run = runOf(await snapshotOf([rateLimit('rl', limit)]));
  const passes = (nowMs: number) => run.call({}, nowMs).decision.action === 'ALLOW';
  const tokens = () => {
    const [slot] = run.state.slots;
    const { buckets } = slot as RateLimitSlot;
    return tableGet(buckets, 'run')?.tokens ?? limit.capacity;
  };
  return { passes, tokens };
}

/** The obvious bucket: look at every period that ends. */
function naive(limit: Limits, times: readonly number[]): boolean[] {
  let tokens = limit.capacity;
  let tickMs = (times[0] ?? 0) + limit.refill_period_ms;
  return times.map((nowMs) => {
    for (; tickMs <= nowMs; tickMs += limit.refill_period_ms) {
      tokens = Math.min(limit.capacity, tokens + limit.refill_tokens);
    }
    if (tokens < limit.cost_tokens_per_call) return false;
    tokens -= limit.cost_tokens_per_call;
    return true;
  });
}

describe('a token bucket', () => {
  it('equals a bucket that looks at every period', async () => {
    verifies('T-B.1', 'IP-2.5-rate_limit');
    const steps = fc.array(fc.nat(60), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(limits, steps, async (limit, list) => {
        let nowMs = 1_000;
        const times = list.map((stepMs) => (nowMs += stepMs));
        const { passes } = await bucketRun(limit);
        expect(times.map(passes)).toEqual(naive(limit, times));
      }),
    );
  });

  it('never holds more than its capacity nor less than nothing, however the clock goes', async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(fc.nat(500), { maxLength: 40 }), async (limit, times) => {
        const { passes, tokens } = await bucketRun(limit);
        for (const nowMs of times) {
          passes(nowMs);
          expect(tokens()).toBeGreaterThanOrEqual(0);
          expect(tokens()).toBeLessThanOrEqual(limit.capacity);
        }
      }),
    );
  });

  it('never gives more than its capacity and what time brought', async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(fc.nat(500), { maxLength: 60 }), async (limit, times) => {
        const { passes } = await bucketRun(limit);
        let forwardMs = 0;
        let spent = 0;
        for (const [index, nowMs] of times.entries()) {
          forwardMs += Math.max(0, nowMs - (times[index - 1] ?? nowMs));
          if (passes(nowMs)) spent += limit.cost_tokens_per_call;
          const refills = Math.floor(forwardMs / limit.refill_period_ms);
          expect(spent).toBeLessThanOrEqual(limit.capacity + refills * limit.refill_tokens);
        }
      }),
    );
  });

  it('is never stuck: after enough whole periods a call passes', async () => {
    const affordable = limits.filter((limit) => limit.cost_tokens_per_call <= limit.capacity);
    await fc.assert(
      fc.asyncProperty(
        affordable,
        fc.array(fc.nat(500), { minLength: 1 }),
        async (limit, times) => {
          const { passes } = await bucketRun(limit);
          for (const nowMs of times) passes(nowMs);
          const lastMs = times.at(-1) ?? 0;
          const periods = Math.ceil(limit.cost_tokens_per_call / limit.refill_tokens);
          expect(passes(lastMs + periods * limit.refill_period_ms)).toBe(true);
        },
      ),
    );
  });

  it('gives a limited call the right time to wait', async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.nat(60), async (limit, nowMs) => {
        fc.pre(limit.cost_tokens_per_call <= limit.capacity);
        const rule = rateLimit('rl', { ...limit, on_limit: 'REJECT_WITH_HINT' });
        const run = runOf(await snapshotOf([rule], { mode: 'control' }));
        run.call({}, 0);
        const calls = Array.from({ length: limit.capacity + 1 }, () => run.call({}, nowMs));
        const advice = calls.at(-1)?.decision.hint?.retry_advice ?? '';
        const waitMs = Number(/Wait (\d+) ms/.exec(advice)?.[1]);
        expect(run.call({}, nowMs + waitMs - 1).decision.action).toBe('REJECT_WITH_HINT');
        expect(run.call({}, nowMs + waitMs).decision.action).toBe('ALLOW');
      }),
      { numRuns: 50 },
    );
  });

  it('costs 1 token by default, which the trace shows', async () => {
    verifies('T-B.5');
    const run = runOf(await snapshotOf([rateLimit('rl', { capacity: 2 })]));
    const tallies = [0, 0, 0].map((nowMs) => run.call({}, nowMs).trace[0]?.tally);
    expect(tallies).toEqual([
      { count: 1, limit: 2 },
      { count: 2, limit: 2 },
      { count: 2, limit: 2 },
    ]);
  });
});
