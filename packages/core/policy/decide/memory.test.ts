import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { ENTRIES_MAX } from '../counters/table.ts';
import {
  breaker,
  budget,
  dedupe,
  rateLimit,
  runOf,
  slotSize,
  snapshotOf,
} from '../testing/scenario.ts';

const CALLS = 200_000;
/** More than a table holds in both of its generations. */
const SAMPLE_EVERY = 20_000;
/** Two generations, each of which may be full, and the entry that late names share. */
const SLOT_MAX = 2 * (ENTRIES_MAX + 1);
const HEAP_GROWTH_BYTES_MAX = 8 * 2 ** 20;

// Garbage would hide what grows: it is collected before each look.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

it('remembers no more after ten times as many different calls', async () => {
  verifies('SL-7.3');
  const snapshot = await snapshotOf([
    budget('budget', { scope: 'tool', limit_calls: 5 }),
    rateLimit('rate', { scope: 'server_tool', capacity: 5, refill_period_ms: 100 }),
    breaker('repeats', {
      repeat_threshold: 3,
      repeat_window_ms: 1_000,
      error_threshold: 3,
      window_ms: 1_000,
    }),
    dedupe('dedupe', { window_ms: 1_000 }),
  ]);
  const run = runOf(snapshot);
  const sizes: number[][] = [];
  const heaps: number[] = [];
  for (let index = 0; index < CALLS; index++) {
    const call = { tool_name: `tool-${index}`, args_hash: `hash-${index}` };
    run.call(call, Math.floor(index / 10), index % 50 === 0 ? 'error' : undefined);
    if ((index + 1) % SAMPLE_EVERY !== 0) continue;
    sizes.push(run.state.slots.map(slotSize));
    heaps.push(heapBytes());
  }
  expect(sizes).toHaveLength(CALLS / SAMPLE_EVERY);
  for (const sample of sizes) {
    for (const size of sample) expect(size).toBeLessThanOrEqual(SLOT_MAX);
  }
  const [settled = 0, ...later] = heaps.slice(1);
  expect(Math.min(...later) - settled).toBeLessThan(HEAP_GROWTH_BYTES_MAX);
  expect(snapshot.candidates.size).toBeLessThanOrEqual(1_024);
}, 120_000);
