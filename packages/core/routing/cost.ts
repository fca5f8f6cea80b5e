// What a turn cost, in whole micro-dollars.
import type { Usage } from '../wires/index.ts';
import type { Price } from './types.ts';

export type TurnCost =
  | {
      readonly kind: 'priced';
      readonly costMicros: number;
      readonly source: 'provider_usage' | 'estimated';
    }
  /** Nobody knows what this model costs. */
  | { readonly kind: 'unpriced' };

const TOKENS_PER_PRICE = 1_000_000n;

/** The cost of the tokens that were used. */
export function turnCost(usage: Usage, price: Price | undefined): TurnCost {
  if (price === undefined) return { kind: 'unpriced' };
  const { cacheWriteTokens } = usage;
  const hourTokens = Math.min(usage.cacheWriteHourTokens, cacheWriteTokens);
  const costMicros = rounded(
    times(usage.inputTokens, price.inputMicros) +
      times(usage.outputTokens, price.outputMicros) +
      times(usage.cacheReadTokens, price.cacheReadMicros) +
      times(cacheWriteTokens - hourTokens, price.cacheWriteMicros) +
      times(hourTokens, price.cacheWriteHourMicros),
  );
  const isEstimated = usage.isEstimated || price.isEstimated;
  return { kind: 'priced', costMicros, source: isEstimated ? 'estimated' : 'provider_usage' };
}

/** What a turn may cost at most: what is reserved for it. */
export function estimateCost(inputTokens: number, outputTokensMax: number, price: Price): number {
  // Input that is written to a cache may cost more than input that is not.
  const inputMicros = Math.max(price.inputMicros, price.cacheWriteMicros);
  return rounded(times(inputTokens, inputMicros) + times(outputTokensMax, price.outputMicros));
}

/** Counts come from upstreams: what is no count is nothing, and no sum overflows. */
function times(tokens: number, micros: number): bigint {
  return BigInt(count(tokens)) * BigInt(count(micros));
}

function count(value: number): number {
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** Rounds half up, once, and stays a number that JSON and databases hold exactly. */
function rounded(microsTimesTokens: bigint): number {
  const micros = (microsTimesTokens + TOKENS_PER_PRICE / 2n) / TOKENS_PER_PRICE;
  return Number(micros > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : micros);
}
