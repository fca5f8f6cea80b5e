import { expect, it } from 'vitest';
import { Readiness } from './readiness.ts';

it('asks the database once for all who ask within a second', async () => {
  let pings = 0;
  let nowMs = 0;
  const ping = async () => ++pings < 2;
  const readiness = new Readiness({ ping }, () => nowMs);
  expect(await Promise.all([readiness.isReady(), readiness.isReady()])).toEqual([true, true]);
  nowMs = 999;
  expect(await readiness.isReady()).toBe(true);
  nowMs = 1_000;
  expect(await readiness.isReady()).toBe(false);
  expect(pings).toBe(2);
});

it('is not ready when the store fails, or when the gateway ends', async () => {
  const failing = new Readiness({ ping: () => Promise.reject(new Error('gone')) }, () => 0);
  expect(await failing.isReady()).toBe(false);
  const ending = new Readiness({ ping: async () => true }, () => 0);
  expect(await ending.isReady()).toBe(true);
  ending.end();
  expect(await ending.isReady()).toBe(false);
});
