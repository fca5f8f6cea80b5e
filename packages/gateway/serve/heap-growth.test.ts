import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { limitHeapGrowth } from './heap-growth.ts';

const KEPT = 300_000;
const ROUNDS = 60;
const PER_ROUND = 50_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function usedBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** The most that the heap takes while objects come that outlive their youth, and are garbage then. */
function heapPeakBytes(): number {
  const ring: object[] = Array.from({ length: 4 * PER_ROUND }, () => ({}));
  let peak = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (let index = 0; index < PER_ROUND; index++) {
      ring[(round * PER_ROUND + index) % ring.length] = { round, index, list: [index] };
    }
    peak = Math.max(peak, process.memoryUsage().heapUsed);
  }
  return peak;
}

it('the heap of a process that serves turns stays near what is in use', () => {
  const kept = Array.from({ length: KEPT }, (_, index) => ({ index, list: [index] }));
  limitHeapGrowth();
  const inUse = usedBytes();
  // Without the limit it is five times as much.
  expect(heapPeakBytes()).toBeLessThan(3 * inUse);
  expect(kept).toHaveLength(KEPT);
});
