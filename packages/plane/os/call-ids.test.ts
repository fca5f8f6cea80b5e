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

it('the digits behind time and count are random', () => {
  const next = callIds();
  const ends = Array.from({ length: COUNT }, () => next().slice(-15).replace('-', ''));
  // So many random numbers of 56 bits share one by chance once in a billion times.
  expect(new Set(ends).size).toBe(COUNT);
  for (let digit = 0; digit < 14; digit++) {
    expect(new Set(ends.map((end) => end[digit])).size).toBe(16);
  }
});

it('an id begins with the time in milliseconds', () => {
  const next = callIds(() => Date.parse('2022-02-22T19:22:22.000Z'));
  // The time of the examples in RFC 9562.
  expect(next()).toMatch(/^017f22e2-79b0-7000-/);
  expect(next()).toMatch(/^017f22e2-79b0-7001-/);
});

it('ids stay in order when a millisecond is full, and when the clock is set back', () => {
  let nowMs = 1_000;
  const next = callIds(() => nowMs);
  const ids = Array.from({ length: COUNT }, next);
  nowMs = 0;
  ids.push(next());
  nowMs = 2_000;
  ids.push(next());
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});
