import { expect, it } from 'vitest';
import { TokenBuckets } from './token-bucket.ts';

it('lets a burst through, and then one by one', () => {
  const buckets = new TokenBuckets({ perMinute: 60, burst: 3 });
  expect([0, 0, 0].map(() => buckets.take('a', 0))).toEqual([0, 0, 0]);
  expect(buckets.take('a', 0)).toBe(1_000);
  expect(buckets.take('b', 0)).toBe(0);
  expect(buckets.take('a', 400)).toBe(600);
  expect(buckets.take('a', 1_000)).toBe(0);
  expect(buckets.take('a', 1_000)).toBe(1_000);
  // Never more than the burst.
  expect([1, 2, 3, 4].map(() => buckets.take('a', 10_000_000) === 0)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

it('gives nothing for a clock that goes back', () => {
  const buckets = new TokenBuckets({ perMinute: 60, burst: 1 });
  expect(buckets.take('a', 10_000)).toBe(0);
  expect(buckets.take('a', 5_000)).toBeGreaterThan(0);
  expect(buckets.take('a', 10_500)).toBeGreaterThan(0);
  expect(buckets.take('a', 11_000)).toBe(0);
});

it('forgets the bucket that was used least recently when there are too many', () => {
  const buckets = new TokenBuckets({ perMinute: 1, burst: 1 }, 2);
  for (const key of ['a', 'b', 'c']) expect(buckets.take(key, 0)).toBe(0);
  expect(buckets.take('c', 0)).toBeGreaterThan(0);
  expect(buckets.take('b', 0)).toBeGreaterThan(0);
  expect(buckets.take('a', 0)).toBe(0);
});
