import { expect, it } from 'vitest';
import { callIds } from './hash.ts';

const COUNT = 5_000;

it('gives ids that sort by time and never repeat, however many', () => {
  const next = callIds();
  const ids = Array.from({ length: COUNT }, next);
  expect(new Set(ids).size).toBe(COUNT);
  expect(ids.toSorted()).toEqual(ids);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

it('takes new randomness when the old is used up', () => {
  const next = callIds();
  const ends = Array.from({ length: COUNT }, () => next().slice(-8));
  // So many random numbers of 32 bits share one by chance once in 300 times, and never many.
  expect(new Set(ends).size).toBeGreaterThan(COUNT - 10);
});
