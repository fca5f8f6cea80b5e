// The list prices of the main hosted models, for those who have no price table of their own. Read from the
// providers' pages in November 2026; discounts, batches and long contexts are not in it.
import { completePrice, type WrittenPrice } from './prices.ts';
import type { Price } from './types.ts';

const MICROS_PER_DOLLAR = 1_000_000;

/** Dollars for a million tokens: input, output, reading from the cache. */
type Row = readonly [model: string, input: number, output: number, cacheRead: number];

const ANTHROPIC: readonly Row[] = [
  ['claude-fable-5-1', 10, 50, 0.25],
  ['claude-fable-5', 10, 50, 1],
  ['claude-opus-5-5', 4, 20, 0.2],
  ['claude-opus-5', 5, 25, 0.5],
  ['claude-opus-4-8', 5, 25, 0.5],
  ['claude-opus-4-7', 5, 25, 0.5],
  ['claude-opus-4-6', 5, 25, 0.5],
  ['claude-opus-4-5', 5, 25, 0.5],
  ['claude-opus-4-1', 15, 75, 1.5],
  ['claude-opus-4', 15, 75, 1.5],
  ['claude-opus-4-0', 15, 75, 1.5],
  ['claude-sonnet-5-5', 2, 10, 0.1],
  ['claude-sonnet-5', 2, 10, 0.2],
  ['claude-sonnet-4-6', 3, 15, 0.3],
  ['claude-sonnet-4-5', 3, 15, 0.3],
  ['claude-sonnet-4', 3, 15, 0.3],
  ['claude-sonnet-4-0', 3, 15, 0.3],
  ['claude-3-7-sonnet', 3, 15, 0.3],
  // Prompts up to 100,000 tokens cost a fifth of this.
  ['claude-haiku-5-5', 0.5, 2.5, 0.05],
  ['claude-haiku-4-5', 1, 5, 0.1],
  ['claude-3-5-haiku', 0.8, 4, 0.08],
  ['claude-3-haiku', 0.25, 1.25, 0.03],
];

const OPENAI: readonly Row[] = [
  ['gpt-6.1-sol', 2, 10, 0.1],
  ['gpt-6-sol', 2, 10, 0.2],
  ['gpt-6-luna', 0.1, 0.5, 0.01],
  ['gpt-5.5', 5, 30, 0.5],
  ['gpt-5.4', 2.5, 15, 0.25],
  ['gpt-5.4-mini', 0.75, 4.5, 0.075],
  ['gpt-5.4-nano', 0.2, 1.25, 0.02],
  ['gpt-5.3-codex', 1.75, 14, 0.175],
  ['gpt-5.2', 1.75, 14, 0.175],
  ['gpt-5.2-codex', 1.75, 14, 0.175],
  ['gpt-5.1', 1.25, 10, 0.125],
  ['gpt-5.1-codex', 1.25, 10, 0.125],
  ['gpt-5.1-codex-max', 1.25, 10, 0.125],
  ['gpt-5.1-codex-mini', 0.25, 2, 0.025],
  ['gpt-5', 1.25, 10, 0.125],
  ['gpt-5-codex', 1.25, 10, 0.125],
  ['gpt-5-mini', 0.25, 2, 0.025],
  ['gpt-5-nano', 0.05, 0.4, 0.005],
  ['gpt-4.1', 2, 8, 0.5],
  ['gpt-4.1-mini', 0.4, 1.6, 0.1],
  ['gpt-4.1-nano', 0.1, 0.4, 0.025],
  ['gpt-4o', 2.5, 10, 1.25],
  ['gpt-4o-mini', 0.15, 0.6, 0.075],
  ['o3', 2, 8, 0.5],
  ['o4-mini', 1.1, 4.4, 0.275],
];

export const LIST_PRICES: readonly Price[] = [
  ...ANTHROPIC.map((row) => listPrice('anthropic', row)),
  ...OPENAI.map((row) => listPrice('openai', row)),
];

function listPrice(provider: WrittenPrice['provider'], [model, ...dollars]: Row): Price {
  const [inputMicros, outputMicros, cacheReadMicros] = dollars.map((amount) => {
    return Math.round(amount * MICROS_PER_DOLLAR);
  });
  return completePrice({
    provider,
    model,
    inputMicros: inputMicros ?? 0,
    outputMicros: outputMicros ?? 0,
    cacheReadMicros: cacheReadMicros ?? 0,
  });
}
