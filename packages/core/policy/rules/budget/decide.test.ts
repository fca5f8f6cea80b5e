import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { budget, runOf, snapshotOf } from '../../testing/scenario.ts';

const times = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { maxLength: 30 });

describe('a budget', () => {
  it('passes exactly as many calls as its limit, whatever the time', async () => {
    verifies('T-B.2', 'IP-2.5-budget');
    await fc.assert(
      fc.asyncProperty(fc.nat(10), times, async (limit_calls, list) => {
        const run = runOf(await snapshotOf([budget('b', { limit_calls })]));
        const passed = list.map((nowMs) => run.call({}, nowMs).decision.action === 'ALLOW');
        expect(passed).toEqual(list.map((_, index) => index < limit_calls));
      }),
    );
  });

  it('passes as many calls as the cost allows, and the tighter limit holds', async () => {
    const limits = fc.record({
      limit_calls: fc.nat(12),
      limit_cost_units: fc.nat(30),
      cost_units_per_call: fc.nat(5),
    });
    await fc.assert(
      fc.asyncProperty(limits, async (limit) => {
        const run = runOf(await snapshotOf([budget('b', limit)]));
        let passed = 0;
        for (let index = 0; index < 20; index++) {
          if (run.call({}, index).decision.action === 'ALLOW') passed += 1;
        }
        const { limit_calls, limit_cost_units, cost_units_per_call } = limit;
        const byCost =
          cost_units_per_call === 0 ? 20 : Math.floor(limit_cost_units / cost_units_per_call);
        expect(passed).toBe(Math.min(20, limit_calls, byCost));
      }),
    );
  });

  it('counts each scope on its own', async () => {
    const calls = fc.array(
      fc.record({
        server_name: fc.constantFrom('s', 't', 's 1'),
        tool_name: fc.constantFrom('a', 'b', '1 a'),
      }),
      { maxLength: 40 },
    );
    const keys = {
      run: () => '',
      tool: (call: { tool_name: string }) => call.tool_name,
      server_tool: (call: object) => JSON.stringify(call),
    } as const;
    const scopes = fc.constantFrom('run', 'tool', 'server_tool');
    await fc.assert(
      fc.asyncProperty(scopes, fc.nat(4), calls, async (scope, limit_calls, list) => {
        const run = runOf(await snapshotOf([budget('b', { scope, limit_calls })]));
        const used = new Map<string, number>();
        for (const call of list) {
          const key = keys[scope](call);
          const count = (used.get(key) ?? 0) + 1;
          used.set(key, count);
          const { action } = run.call(call, 0).decision;
          expect(action).toBe(count <= limit_calls ? 'ALLOW' : 'BLOCK');
        }
      }),
    );
  });

  it('is not escaped by inventing names once its table is full', async () => {
    verifies('SL-7.3');
    const run = runOf(await snapshotOf([budget('b', { scope: 'tool', limit_calls: 2 })]));
    for (let index = 0; index < 10_000; index++) run.call({ tool_name: `t${index}` }, index);
    const late = ['x', 'y', 'z'].map((tool_name) => run.call({ tool_name }, 0).decision.action);
    expect(late).toEqual(['BLOCK', 'BLOCK', 'BLOCK']);
    const known = [1, 2].map(() => run.call({ tool_name: 't0' }, 0).decision.action);
    expect(known).toEqual(['ALLOW', 'BLOCK']);
  });
});
