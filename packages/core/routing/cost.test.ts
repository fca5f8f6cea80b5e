import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Usage } from '../wires/index.ts';
import { estimateCost, turnCost } from './cost.ts';
import { completePrice } from './prices.ts';

const SONNET = completePrice({
  provider: 'anthropic',
  model: 'claude-sonnet-4-6',
  inputMicros: 3_000_000,
  outputMicros: 15_000_000,
});

const usage = (over: Partial<Usage>): Usage => ({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteHourTokens: 0,
  isEstimated: false,
  ...over,
});

test.each<[string, Partial<Usage>, number]>([
  ['input', { inputTokens: 1_000 }, 3_000],
  ['output', { outputTokens: 1_000 }, 15_000],
  ['reading from the cache', { cacheReadTokens: 1_000 }, 300],
  ['writing to the cache', { cacheWriteTokens: 1_000 }, 3_750],
  ['writing to it for an hour', { cacheWriteTokens: 1_000, cacheWriteHourTokens: 1_000 }, 6_000],
  ['both', { cacheWriteTokens: 1_000, cacheWriteHourTokens: 400 }, 4_650],
  ['an hour that is more than the whole', { cacheWriteTokens: 1, cacheWriteHourTokens: 9 }, 6],
  ['half a micro-dollar and more', { cacheReadTokens: 5 }, 2],
  ['less than half a micro-dollar', { cacheReadTokens: 1 }, 0],
  ['parts that only together make one', { inputTokens: 1, cacheReadTokens: 2 }, 4],
  ['counts that are none', { inputTokens: -5, outputTokens: Number.NaN, cacheReadTokens: 0.5 }, 0],
  ['a count beyond all sums', { outputTokens: Number.MAX_SAFE_INTEGER }, Number.MAX_SAFE_INTEGER],
])('a turn costs what its tokens cost: %s', (_, tokens, costMicros) => {
  expect(turnCost(usage(tokens), SONNET)).toEqual({
    kind: 'priced',
    costMicros,
    source: 'provider_usage',
  });
});

test('what was estimated is marked, whether tokens or price', () => {
  const source = (of: Partial<Usage>, isEstimated: boolean) => {
    return turnCost(usage(of), { ...SONNET, isEstimated });
  };
  expect(source({ isEstimated: true }, false)).toMatchObject({ source: 'estimated' });
  expect(source({}, true)).toMatchObject({ source: 'estimated' });
});

test('a model without a price has no cost', () => {
  expect(turnCost(usage({ inputTokens: 5 }), undefined)).toEqual({ kind: 'unpriced' });
});

test('an estimate takes the most that input and output can cost', () => {
  expect(estimateCost(1_000, 2_000, SONNET)).toBe(3_750 + 30_000);
  const free = completePrice({
    provider: 'openai_compat',
    model: 'm',
    inputMicros: 0,
    outputMicros: 0,
  });
  expect(estimateCost(1_000, 2_000, free)).toBe(0);
});

test('the cost is the exact sum, rounded once', () => {
  const tokens = fc.integer({ min: 0, max: 1_000_000_000 });
  fc.assert(
    fc.property(tokens, tokens, tokens, (inputTokens, outputTokens, cacheReadTokens) => {
      const cost = turnCost(usage({ inputTokens, outputTokens, cacheReadTokens }), SONNET);
      const exact =
        BigInt(inputTokens) * 3_000_000n +
        BigInt(outputTokens) * 15_000_000n +
        BigInt(cacheReadTokens) * 300_000n;
      const micros = cost.kind === 'priced' ? BigInt(cost.costMicros) * 1_000_000n : -1n;
      expect(micros - exact > -500_000n && micros - exact <= 500_000n).toBe(true);
    }),
  );
});
