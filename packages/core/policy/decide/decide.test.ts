import type { Rule } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import type { Outcome } from '../model/call.ts';
import {
  allow,
  breaker,
  budget,
  callOf,
  dedupe,
  deny,
  rateLimit,
  runOf,
  snapshotOf,
} from '../testing/scenario.ts';
import { decide } from './decide.ts';
import { carryState, initialState, type PolicyState } from './verdict.ts';

const approval: Rule = {
  rule_id: 'ask',
  kind: 'approval',
  enabled: true,
  match: { tool_name: { glob: ['c'] } },
  effect: { approval: { wait: 'hint' } },
  severity: 'warn',
};
const POOL: readonly Rule[] = [
  budget('budget', { limit_calls: 6 }),
  budget('per-tool', { scope: 'tool', limit_calls: 3 }),
  rateLimit('rate', { capacity: 4, refill_period_ms: 20 }),
  breaker('repeats', { repeat_threshold: 3, repeat_window_ms: 40 }),
  breaker('errors', { error_threshold: 2, window_ms: 40 }),
  dedupe('dedupe', { window_ms: 30 }),
  deny('deny', { tool_name: { glob: ['b'] } }),
  deny('fails', { tool_name: { glob: ['d'] } }, 'args.n > 1'),
  allow('allow', { tool_name: { glob: ['a'] } }),
  approval,
];
const rules = fc.shuffledSubarray([...POOL]);
const calls = fc.array(
  fc.record({
    tool_name: fc.constantFrom('a', 'b', 'c', 'd'),
    args_hash: fc.constantFrom('x', 'y'),
    approved: fc.constantFrom<string[]>([], ['ask']),
    nowMs: fc.nat(200),
    result: fc.constantFrom('ok' as const, 'error' as const),
  }),
  { maxLength: 30 },
);

function essence({ decision }: Outcome<PolicyState>) {
  const { action, rule_id, reason_code, summary } = decision;
  return { action, rule_id, reason_code, summary };
}

describe('a call that is spared', () => {
  it.each([
    ['observe mode', { mode: 'observe' }],
    ['the development profile', { profile: 'development' }],
  ] as const)('by %s is what an enforcing policy would have refused', async (_name, spares) => {
    verifies('SL-9.1');
    await fc.assert(
      fc.asyncProperty(rules, calls, async (list, sequence) => {
        const enforcing = runOf(await snapshotOf(list));
        const sparing = runOf(await snapshotOf(list, spares));
        for (const { nowMs, result, ...call } of sequence) {
          const real = enforcing.call(call, nowMs, result);
          const spared = sparing.call(call, nowMs, result);
          expect(spared.decision.action).toBe('ALLOW');
          expect(spared.decision.would ?? essence(spared)).toEqual(essence(real));
        }
      }),
    );
  });
});

describe('decide', () => {
  it('is pure: any earlier state gives the same outcome again', async () => {
    verifies('T-A2.5', 'T-A2.1');
    await fc.assert(
      fc.asyncProperty(rules, calls, async (list, sequence) => {
        const snapshot = await snapshotOf(list);
        let state = initialState(snapshot);
        const past = sequence.map(({ nowMs, result: _result, ...parts }) => {
          const call = Object.freeze(callOf(parts));
          const at = { state, call, nowMs };
          const outcome = decide(snapshot, call, state, nowMs);
          state = outcome.state;
          return { at, outcome: { ...outcome, state: null } };
        });
        for (const { at, outcome } of past.toReversed()) {
          const again = decide(snapshot, at.call, at.state, at.nowMs);
          expect({ ...again, state: null }).toEqual(outcome);
        }
      }),
    );
  });

  it('explains itself: the trace names the rule that decided, and no other', async () => {
    verifies('T-B.5');
    await fc.assert(
      fc.asyncProperty(rules, calls, async (list, sequence) => {
        const run = runOf(await snapshotOf(list));
        for (const { nowMs, result, ...call } of sequence) {
          const { decision, trace } = run.call(call, nowMs, result);
          const own = trace.find(({ rule_id }) => rule_id === decision.rule_id);
          expect(own?.rule_id ?? null).toBe(decision.rule_id);
          expect([undefined, 'decided', 'asks', 'failed']).toContain(own?.outcome);
          for (const step of trace) {
            expect(step.outcome === 'decided').toBe(step === own && own.outcome === 'decided');
          }
        }
      }),
    );
  });

  it('lets accumulators count whatever the other rules decide', async () => {
    verifies('IP-2.3');
    const counters = POOL.filter(({ kind }) => kind === 'budget' || kind === 'rate_limit');
    const deciders = fc.shuffledSubarray(
      POOL.filter(({ kind }) => ['allow', 'deny', 'approval'].includes(kind)),
    );
    const tallies = ({ trace }: Outcome<PolicyState>) =>
      Object.fromEntries(
        trace.filter(({ tally }) => tally).map(({ rule_id, tally }) => [rule_id, tally]),
      );
    await fc.assert(
      fc.asyncProperty(deciders, calls, async (before, sequence) => {
        const alone = runOf(await snapshotOf(counters));
        const behind = runOf(await snapshotOf([...before, ...counters]));
        for (const { nowMs, result: _result, ...call } of sequence) {
          expect(tallies(behind.call(call, nowMs))).toEqual(tallies(alone.call(call, nowMs)));
        }
      }),
    );
  });

  it.each([0, -1, 0.5, -1e15, 1e15, Number.MAX_SAFE_INTEGER])(
    'takes %s for a time',
    async (nowMs) => {
      const run = runOf(await snapshotOf(POOL));
      const actions = [5, nowMs, 6].map(
        (at) => run.call({ args_hash: `${at}` }, at).decision.action,
      );
      expect(actions).toEqual(['ALLOW', 'ALLOW', 'ALLOW']);
    },
  );

  it('allows and denies with an action, a reason and a message', async () => {
    verifies('IP-2.5-allow-deny');
    const words = { reason_code: 'WHY', message: 'Because.' };
    const list: Rule[] = [
      {
        ...deny('no', { tool_name: { glob: ['b'] } }),
        kind: 'deny',
        effect: { action: 'BLOCK', ...words },
      },
      { ...allow('yes'), kind: 'allow', effect: { action: 'ALLOW', ...words } },
    ];
    const run = runOf(await snapshotOf(list));
    const said = { severity: 'warn', reason_code: 'WHY', summary: 'Because.' };
    const [blocked, allowed] = ['b', 'a'].map((tool_name) => run.call({ tool_name }, 0).decision);
    expect(blocked).toEqual({ action: 'BLOCK', rule_id: 'no', ...said });
    expect(allowed).toEqual({ action: 'ALLOW', rule_id: 'yes', ...said });
  });

  it('tags calls with classes that later rules match and earlier ones do not', async () => {
    verifies('IP-2.5-tag');
    const tag: Rule = {
      rule_id: 'tag',
      kind: 'tag',
      enabled: true,
      match: { tool_name: { glob: ['put_*'] } },
      effect: { tag: { add_risk_class: ['write_like'] } },
      severity: 'info',
    };
    const writes = { risk_class: ['write_like'] };
    const run = runOf(await snapshotOf([deny('early', writes), tag, deny('late', writes)]));
    const put = run.call({ tool_name: 'put_x' }, 0);
    expect([put.decision.rule_id, put.risk_class]).toEqual(['late', ['write_like']]);
    expect(run.call({ tool_name: 'get_x' }, 0).risk_class).toEqual([]);
  });

  it('reaches each of the five actions', async () => {
    verifies('SL-9.3', 'SL-9.2', 'IP-3.1');
    const only = (tool: string, rule: Rule): Rule => {
      return { ...rule, match: { tool_name: { glob: [tool] } } };
    };
    const list = [
      only('block', deny('deny')),
      only('throttle', rateLimit('rate', { on_limit: 'THROTTLE', backoff_ms: 7 })),
      only('hint', budget('b', { limit_calls: 0, on_exceed: 'REJECT_WITH_HINT' })),
      only('end', budget('e', { limit_calls: 0, on_exceed: 'TERMINATE_RUN' })),
    ];
    const run = runOf(await snapshotOf(list));
    const tools = ['throttle', 'throttle', 'block', 'hint', 'end', 'other'];
    expect(tools.map((tool_name) => run.call({ tool_name }, 0).decision.action)).toEqual([
      'ALLOW',
      'THROTTLE',
      'BLOCK',
      'REJECT_WITH_HINT',
      'TERMINATE_RUN',
      'TERMINATE_RUN',
    ]);
  });

  it('gives the agent corrected arguments that pass', async () => {
    verifies('SL-10.1', 'SL-10.2');
    const rule: Rule = {
      rule_id: 'small',
      kind: 'deny',
      enabled: true,
      match: { args: { numeric_range: { limit: { min: 101 } } } },
      effect: { action: 'BLOCK', hint: { suggest: { clamp: { limit: { max: 100 } } } } },
      severity: 'warn',
    };
    const run = runOf(await snapshotOf([rule], { mode: 'control' }));
    const { decision } = run.call({ args: { limit: 5_000, q: 'x' } }, 0);
    expect(decision).toMatchObject({ action: 'REJECT_WITH_HINT', rule_id: 'small' });
    const args = decision.hint?.suggested_args;
    expect(args).toEqual({ limit: 100, q: 'x' });
    expect(run.call(args ? { args } : {}, 1).decision.action).toBe('ALLOW');
  });
});

describe('a policy that is reloaded', () => {
  it('keeps the counters of its rules', async () => {
    verifies('IP-2.6');
    const before = runOf(await snapshotOf([budget('b', { limit_calls: 3 })]));
    before.call({}, 0);
    before.call({}, 0);
    const after = await snapshotOf([
      allow('first', { tool_name: { glob: ['x'] } }),
      budget('b', { limit_calls: 3 }),
    ]);
    const third = decide(after, callOf(), before.state, 0);
    expect(third.decision.action).toBe('ALLOW');
    expect(decide(after, callOf(), third.state, 0).decision.action).toBe('BLOCK');
  });

  it('holds its new limits at once', async () => {
    const before = runOf(
      await snapshotOf([budget('b', { limit_calls: 9 }), rateLimit('r', { capacity: 9 })]),
    );
    before.call({}, 0);
    before.call({}, 0);
    const tightBudget = await snapshotOf([budget('b', { limit_calls: 2 })]);
    expect(decide(tightBudget, callOf(), before.state, 0).decision.action).toBe('BLOCK');
    const tightRate = await snapshotOf([rateLimit('r', { capacity: 1 })]);
    const one = decide(tightRate, callOf(), before.state, 0);
    expect(one.decision.action).toBe('ALLOW');
    expect(decide(tightRate, callOf(), one.state, 0).decision.action).toBe('BLOCK');
  });

  it('starts anew for a rule that has become another', async () => {
    const before = runOf(await snapshotOf([budget('same', { limit_calls: 1 })]));
    before.call({}, 0);
    const other = await snapshotOf([rateLimit('same', {}), budget('new', { limit_calls: 1 })]);
    expect(decide(other, callOf(), before.state, 0).decision.action).toBe('ALLOW');
  });

  it('does not end a run for a trip that was only observed', async () => {
    const list = [budget('b', { limit_calls: 0, on_exceed: 'TERMINATE_RUN' })];
    const before = runOf(await snapshotOf(list, { mode: 'observe' }));
    expect(before.call({}, 0).decision.would?.action).toBe('TERMINATE_RUN');
    const after = await snapshotOf([allow('all')]);
    expect(decide(after, callOf(), before.state, 0).decision.action).toBe('ALLOW');
  });

  it('does not revive a run that has ended, and does not count for the old state', async () => {
    const before = runOf(
      await snapshotOf([budget('b', { limit_calls: 0, on_exceed: 'TERMINATE_RUN' })]),
    );
    before.call({}, 0);
    const after = await snapshotOf([allow('all')]);
    expect(decide(after, callOf(), before.state, 0).decision).toMatchObject({
      action: 'TERMINATE_RUN',
      reason_code: 'RUN_TERMINATED',
    });
    expect(carryState(before.state, after).terminated).toEqual(before.state.terminated);
    const observing = await snapshotOf([], { mode: 'observe' });
    expect(decide(observing, callOf(), before.state, 0).decision.action).toBe('ALLOW');
  });
});
