import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { dedupe, deny, runOf, snapshotOf } from '../../testing/scenario.ts';

const WINDOW_MS = 50;
const rules = [deny('stop', { risk_class: ['stop'] }), dedupe('d', { window_ms: WINDOW_MS })];

describe('a dedupe window', () => {
  it('stops exactly what passed less than a window ago', async () => {
    verifies('T-B.4', 'IP-2.5-dedupe');
    const steps = fc.array(
      fc.record({
        stepMs: fc.nat(40),
        args_hash: fc.constantFrom('x', 'y', 'z'),
        risk_class: fc.constantFrom<string[]>([], ['stop']),
      }),
      { maxLength: 50 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const run = runOf(await snapshotOf(rules));
        const passedAtMs = new Map<string, number>();
        let nowMs = 0;
        for (const { stepMs, args_hash, risk_class } of list) {
          nowMs += stepMs;
          const lastMs = passedAtMs.get(args_hash) ?? Number.NEGATIVE_INFINITY;
          const passes = risk_class.length === 0 && nowMs - lastMs >= WINDOW_MS;
          const { decision } = run.call({ args_hash, risk_class }, nowMs);
          expect(decision.action).toBe(passes ? 'ALLOW' : 'BLOCK');
          if (passes) passedAtMs.set(args_hash, nowMs);
        }
      }),
    );
  });

  it('is over a window after the last call, however the clock went', async () => {
    const times = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(times, async (list) => {
        const run = runOf(await snapshotOf(rules));
        for (const nowMs of list) run.call({}, nowMs);
        const { action } = run.call({}, (list.at(-1) ?? 0) + WINDOW_MS).decision;
        expect(action).toBe('ALLOW');
      }),
    );
  });

  it('gives the time that it still lasts', async () => {
    const rule = dedupe('d', { window_ms: WINDOW_MS, on_duplicate: 'REJECT_WITH_HINT' });
    const run = runOf(await snapshotOf([rule], { mode: 'control' }));
    run.call({}, 100);
    const { hint } = run.call({}, 110).decision;
    expect(hint?.retry_advice).toContain('wait 40 ms');
    expect(run.call({}, 149).decision.action).toBe('REJECT_WITH_HINT');
    expect(run.call({}, 150).decision.action).toBe('ALLOW');
  });
});
