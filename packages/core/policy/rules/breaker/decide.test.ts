import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { breaker, runOf, snapshotOf } from '../../testing/scenario.ts';

const WINDOW_MS = 50;
const steps = fc.array(
  fc.record({ stepMs: fc.nat(40), args_hash: fc.constantFrom('x', 'y'), failed: fc.boolean() }),
  { maxLength: 50 },
);

/** Turns steps into times that never go back. */
function timed<T extends { readonly stepMs: number }>(list: readonly T[]) {
  let nowMs = 0;
  return list.map((one) => ({ ...one, nowMs: (nowMs += one.stepMs) }));
}

describe('a breaker on repeats', () => {
  it('trips exactly when as many identical calls lie within the window', async () => {
    verifies('T-B.3', 'IP-2.5-breaker');
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 5 }), steps, async (repeat_threshold, list) => {
        const rule = breaker('b', { repeat_threshold, repeat_window_ms: WINDOW_MS });
        const run = runOf(await snapshotOf([rule]));
        const past: { args_hash: string; nowMs: number }[] = [];
        for (const { args_hash, nowMs } of timed(list)) {
          past.push({ args_hash, nowMs });
          const same = past.filter(
            (one) => one.args_hash === args_hash && nowMs - one.nowMs < WINDOW_MS,
          );
          const { decision } = run.call({ args_hash }, nowMs);
          expect(decision.action).toBe(same.length >= repeat_threshold ? 'BLOCK' : 'ALLOW');
        }
      }),
    );
  });

  it('lets the same call pass again a window later, however the clock went', async () => {
    const times = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(times, async (list) => {
        const rule = breaker('b', { repeat_threshold: 2, repeat_window_ms: WINDOW_MS });
        const run = runOf(await snapshotOf([rule]));
        for (const nowMs of list) run.call({}, nowMs);
        const { action } = run.call({}, (list.at(-1) ?? 0) + WINDOW_MS).decision;
        expect(action).toBe('ALLOW');
      }),
    );
  });
});

describe('a breaker on errors', () => {
  it('is open exactly while as many errors lie within the window', async () => {
    verifies('T-B.3');
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (error_threshold, list) => {
        const run = runOf(
          await snapshotOf([breaker('b', { error_threshold, window_ms: WINDOW_MS })]),
        );
        const errors: number[] = [];
        for (const { nowMs, failed } of timed(list)) {
          const open = errors.filter((time) => nowMs - time < WINDOW_MS).length >= error_threshold;
          const { decision } = run.call({}, nowMs, failed && !open ? 'error' : 'ok');
          expect(decision.action).toBe(open ? 'BLOCK' : 'ALLOW');
          if (failed && !open) errors.push(nowMs);
        }
      }),
    );
  });

  it('closes a window after the last call, however the clock went', async () => {
    const list = fc.array(fc.record({ nowMs: fc.nat(1_000), failed: fc.boolean() }), {
      minLength: 1,
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(list, async (calls) => {
        const rule = breaker('b', { error_threshold: 1, window_ms: WINDOW_MS });
        const run = runOf(await snapshotOf([rule]));
        for (const { nowMs, failed } of calls) {
          const { action } = run.call({}, nowMs).decision;
          if (action === 'ALLOW') run.call({}, nowMs, failed ? 'error' : 'ok');
        }
        const lastMs = calls.at(-1)?.nowMs ?? 0;
        run.call({}, lastMs);
        expect(run.call({}, lastMs + WINDOW_MS).decision.action).toBe('ALLOW');
      }),
    );
  });

  it('counts an error from before the clock went back as one of now', async () => {
    const rule = breaker('b', { error_threshold: 1, window_ms: WINDOW_MS });
    const run = runOf(await snapshotOf([rule]));
    run.call({}, 10_000, 'error');
    const actions = [0, WINDOW_MS - 1, WINDOW_MS].map(
      (nowMs) => run.call({}, nowMs).decision.action,
    );
    expect(actions).toEqual(['BLOCK', 'BLOCK', 'ALLOW']);
  });

  it('shows its count in the trace, and nothing else', async () => {
    verifies('T-B.5');
    const both = { error_threshold: 3, window_ms: 10, repeat_threshold: 2, repeat_window_ms: 10 };
    const run = runOf(await snapshotOf([breaker('b', both)]));
    expect(run.call({}, 0, 'error').trace).toEqual([
      {
        rule_id: 'b',
        kind: 'breaker',
        outcome: 'counted',
        tally: { count: 0, limit: 3 },
        note: null,
      },
    ]);
    expect(run.call({}, 1).trace[0]?.tally).toEqual({ count: 2, limit: 2 });
  });

  it('counts errors only of calls that it watched', async () => {
    const rule = { ...breaker('b', { error_threshold: 1, window_ms: 10 }), when: 'args.n > 1' };
    const snapshot = await snapshotOf([rule], { defaults: { decision_on_error: 'ALLOW' } });
    const run = runOf(snapshot);
    run.call({ args: { n: 1 } }, 0, 'error');
    run.call({ args: {} }, 0, 'error');
    expect(run.call({ args: { n: 2 } }, 1, 'error').decision.action).toBe('ALLOW');
    expect(run.call({ args: { n: 2 } }, 2).decision.action).toBe('BLOCK');
  });
});
