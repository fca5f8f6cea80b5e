import type { Match, Rule } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decide, settleCost } from '../decide/decide.ts';
import { initialState } from '../decide/verdict.ts';
import { explain } from '../explain/explain.ts';
import { parseBundle } from '../read/parse.ts';
import { NO_CHECKS } from '../testing/sample-bundle.ts';
import { allow, budget, callOf, deny, runOf, snapshotOf } from '../testing/scenario.ts';

const TURN = { subject: 'turn', server_name: 'anthropic', tool_name: 'claude-opus-4-8' } as const;

describe('a rule', () => {
  const cases: readonly (readonly [string, Match, boolean])[] = [
    ['without subjects', {}, false],
    ['for tools, resources and prompts', { subjects: ['tool', 'resource', 'prompt'] }, false],
    ['for turns', { subjects: ['turn'] }, true],
    ['for the provider', { subjects: ['turn'], provider: { glob: ['anth*'] } }, true],
    ['for another provider', { subjects: ['turn'], provider: { glob: ['openai'] } }, false],
    ['for the model', { subjects: ['turn'], model: { glob: ['claude-opus-*'] } }, true],
    ['for another model', { subjects: ['turn'], model: { regex: ['^gpt-'] } }, false],
  ];
  it.each(cases)('%s sees a turn accordingly', async (_words, match, isSeen) => {
    const run = runOf(await snapshotOf([deny('d', match)]));
    expect(run.call(TURN, 0).decision.action).toBe(isSeen ? 'BLOCK' : 'ALLOW');
  });

  it('for turns never sees a tool of the same names', async () => {
    const run = runOf(await snapshotOf([deny('d', { subjects: ['turn'] })]));
    expect(run.call({ ...TURN, subject: undefined }, 0).decision.action).toBe('ALLOW');
  });

  it('that a turn did not fit is explained by the name of the model', async () => {
    const rule = deny('d', { subjects: ['turn'], model: { glob: ['gpt-*'] } });
    const snapshot = await snapshotOf([rule]);
    const state = initialState(snapshot);
    const { rules } = explain(snapshot, { call: callOf(TURN), state, nowMs: 0 });
    expect(rules[0]).toMatchObject({
      why: 'model `claude-opus-4-8` matches none of gpt-*',
      unmet: { part: 'model' },
    });
  });
});

describe('a budget in dollars', () => {
  const money = (limit_usd: number): Rule => ({
    ...budget('money', { limit_usd }),
    match: { subjects: ['turn'] },
  });

  it('reserves what a turn may cost, and counts what it did cost', async () => {
    const snapshot = await snapshotOf([money(1)]);
    const call = callOf({ ...TURN, cost_micros: 600_000 });
    const first = decide(snapshot, call, initialState(snapshot), 0);
    expect(first.decision.action).toBe('ALLOW');
    const second = decide(snapshot, call, first.state, 1);
    expect(second.decision).toMatchObject({
      action: 'BLOCK',
      reason_code: 'BUDGET_EXCEEDED',
      summary: 'The budget is used up: $0.6000 of $1.00, and this turn may cost $0.6000.',
    });
    const ended = { call, micros: 10_000, trace: first.trace, nowMs: 2 };
    const settled = settleCost(snapshot, ended, second.state);
    expect(decide(snapshot, call, settled, 3).trace[0]?.tally).toEqual({ count: 0.61, limit: 1 });
  });

  it('never lets what was spent and reserved exceed the limit, in any order', async () => {
    const snapshot = await snapshotOf([money(1)]);
    const steps = fc.array(fc.record({ asks: fc.nat(500_000), share: fc.nat(100) }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(steps, (list) => {
        let state = initialState(snapshot);
        let spent = 0;
        const open: { readonly micros: number; end(): void }[] = [];
        for (const { asks, share } of list) {
          const call = callOf({ ...TURN, cost_micros: asks });
          const { decision, trace, state: next } = decide(snapshot, call, state, 0);
          state = next;
          const reserved = open.reduce((sum, one) => sum + one.micros, 0);
          expect(decision.action === 'ALLOW').toBe(spent + reserved + asks <= 1_000_000);
          if (decision.action !== 'ALLOW') continue;
          const micros = Math.floor((asks * share) / 100);
          const end = () => {
            state = settleCost(snapshot, { call, micros, trace, nowMs: 0 }, state);
            spent += micros;
          };
          open.push({ micros: asks, end });
          if (share % 3 === 0) open.shift()?.end();
        }
      }),
    );
  });

  it('stops a turn whose price is not known', async () => {
    const run = runOf(await snapshotOf([money(1)]));
    expect(run.call(TURN, 0).decision).toMatchObject({
      action: 'BLOCK',
      summary:
        'The price of `claude-opus-4-8` is not known, and a budget in dollars holds for it. Add it under [[prices]] in config.toml.',
    });
  });
});

const FRAME = 'policy_id: p\nversion: "1"\nmode: control\nrules:\n  - rule_id: r\n    kind: KIND\n';

test.each([
  ['a model in a rule for tools', 'match: { model: { glob: ["gpt-*"] } }', 'only a turn has one'],
  [
    'a tool in a rule for turns',
    'match: { subjects: [turn], tool_name: { glob: [a] } }',
    'a turn has none',
  ],
  ['turns beside tools', 'match: { subjects: [tool, turn] }', '`turn` stands alone'],
  [
    'a model without a pattern',
    'match: { subjects: [turn], model: {} }',
    'neither `glob` nor `regex`',
  ],
])('%s is an error', (_words, match, message) => {
  const rule = FRAME.replace('KIND', 'deny');
  const text = `${rule}    ${match}\n    effect: { action: BLOCK }\n`;
  const { problems } = parseBundle({ file: 'p.yaml', text }, { checks: NO_CHECKS });
  expect(problems.map((one) => one.message).join('\n')).toContain(message);
});

test('dollars in a rule for tools are an error', () => {
  const effect = 'effect: { budget: { scope: run, limit_usd: 2, on_exceed: BLOCK } }';
  const text = `${FRAME.replace('KIND', 'budget')}    match: {}\n    ${effect}\n`;
  const { problems } = parseBundle({ file: 'p.yaml', text }, { checks: NO_CHECKS });
  expect(problems.map((one) => one.code)).toEqual(['SUB_BUNDLE_CONFLICT']);
});

test('an allow for everything hides no rule for turns', async () => {
  const rules = [allow('all'), deny('models', { subjects: ['turn'] })];
  const run = runOf(await snapshotOf(rules));
  expect(run.call(TURN, 0).decision.rule_id).toBe('models');
});
