import { expect, test } from 'vitest';
import { LIST_PRICES } from './price-table.ts';
import { completePrice, type PricedTarget, priceBook, undatedModel } from './prices.ts';

const target = (over: Partial<PricedTarget>): PricedTarget => ({
  provider: 'anthropic',
  endpointId: 'anthropic-prod',
  model: 'claude-sonnet-4-6',
  ...over,
});
const price = (model: string, inputMicros: number, endpointId?: string) => {
  const named = endpointId === undefined ? {} : { endpointId };
  return completePrice({ provider: 'anthropic', model, inputMicros, outputMicros: 1, ...named });
};

test.each([
  ['claude-sonnet-4-6-20260101', 'claude-sonnet-4-6'],
  ['gpt-4o-2024-08-06', 'gpt-4o'],
  ['claude-opus-4@20250514', 'claude-opus-4'],
  ['claude-3-5-haiku-latest', 'claude-3-5-haiku'],
  ['claude-sonnet-4-6', 'claude-sonnet-4-6'],
  ['gpt-4.1', 'gpt-4.1'],
  ['o3-19991231', 'o3-19991231'],
  ['20260101', '20260101'],
])('the model %s is priced as %s', (model, undated) => {
  expect(undatedModel(model)).toBe(undated);
});

test('the price of an endpoint holds before that of its provider, dated names before undated ones', () => {
  const book = priceBook([
    price('claude-sonnet-4-6', 1),
    price('claude-sonnet-4-6-20260101', 2),
    price('claude-sonnet-4-6', 3, 'team-own'),
    price('claude-sonnet-4-6', 4),
  ]);
  const found = (over: Partial<PricedTarget>) => book.priceFor(target(over))?.inputMicros;
  expect(found({})).toBe(1);
  expect(found({ model: 'claude-sonnet-4-6-20260101' })).toBe(2);
  expect(found({ model: 'claude-sonnet-4-6-20260202' })).toBe(1);
  expect(found({ endpointId: 'team-own' })).toBe(3);
  expect(found({ endpointId: 'team-own', model: 'claude-sonnet-4-6-20260101' })).toBe(3);
});

test('a model that nobody priced, and one of another provider, have no price', () => {
  const book = priceBook([price('claude-sonnet-4-6', 1), price('local', 2, 'ollama')]);
  expect(book.priceFor(target({ model: 'claude-next' }))).toBeUndefined();
  expect(book.priceFor(target({ provider: 'openai' }))).toBeUndefined();
  expect(book.priceFor(target({ model: 'local' }))).toBeUndefined();
});

test('cache prices that are left out follow the usual ratio of the provider', () => {
  const written = { model: 'm', inputMicros: 3_000_000, outputMicros: 15_000_000 };
  expect(completePrice({ provider: 'anthropic', ...written })).toMatchObject({
    cacheWriteMicros: 3_750_000,
    cacheWriteHourMicros: 6_000_000,
    cacheReadMicros: 300_000,
    isEstimated: false,
  });
  expect(
    completePrice({ provider: 'openai_compat', ...written, cacheReadMicros: 0 }),
  ).toMatchObject({
    cacheWriteMicros: 3_000_000,
    cacheWriteHourMicros: 3_000_000,
    cacheReadMicros: 0,
  });
});

test('the list prices are whole micro-dollars, each model once', () => {
  const names = LIST_PRICES.map(({ provider, model }) => `${provider} ${model}`);
  expect(new Set(names).size).toBe(names.length);
  for (const { provider: _p, model, endpointId: _e, isEstimated: _i, ...micros } of LIST_PRICES) {
    const isWhole = Object.values(micros).every((value) => Number.isInteger(value) && value > 0);
    expect([model, isWhole]).toEqual([model, true]);
  }
  expect(
    priceBook(LIST_PRICES).priceFor(target({ model: 'claude-opus-4-7-20260301' })),
  ).toMatchObject({
    inputMicros: 5_000_000,
    outputMicros: 25_000_000,
    cacheWriteMicros: 6_250_000,
    cacheWriteHourMicros: 10_000_000,
    cacheReadMicros: 500_000,
  });
});
