import type { Bundle, Rule } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { runs } from '../../../../test/runs.ts';
import { normalizeBundle } from '../compile/normalize.ts';
import { diffBundles } from './diff.ts';

const word = fc.constantFrom('a', 'b', 'git_*', 'git_push', '*', 'x?');
const names = fc.record({ glob: fc.array(word, { minLength: 1, maxLength: 3 }) });
const count = fc.integer({ min: 1, max: 5 });
const scope = fc.constantFrom('run' as const, 'tool' as const, 'server_tool' as const);
const range = fc.record({ min: count, max: count }, { requiredKeys: [] });
const match = fc.record(
  {
    server_name: names,
    tool_name: names,
    risk_class: fc.array(fc.constantFrom('read_like', 'write_like'), { minLength: 1 }),
    args: fc.record(
      { has_keys: fc.array(word, { minLength: 1 }), numeric_range: fc.dictionary(word, range) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const stop = fc.constantFrom('BLOCK' as const, 'REJECT_WITH_HINT' as const);
const effects = fc.oneof(
  fc.constant({ kind: 'allow', effect: { action: 'ALLOW' } } as const),
  fc.constant({ kind: 'deny', effect: { action: 'BLOCK' } } as const),
  fc.record({
    kind: fc.constant('budget' as const),
    effect: fc.record({
      budget: fc.record({ scope, limit_calls: fc.integer({ min: 0, max: 2 }), on_exceed: stop }),
    }),
  }),
  fc.record({
    kind: fc.constant('dedupe' as const),
    effect: fc.record({
      dedupe: fc.record({
        scope,
        window_ms: count,
        key: fc.constant('args_hash' as const),
        on_duplicate: stop,
      }),
    }),
  }),
  fc.constant({ kind: 'tag', effect: { tag: { add_risk_class: ['write_like'] } } } as const),
);
const rule: fc.Arbitrary<Rule> = fc
  .tuple(
    fc.record({
      rule_id: fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5', 'r6'),
      enabled: fc.boolean(),
      severity: fc.constantFrom('info' as const, 'critical' as const),
      match,
    }),
    effects,
  )
  .map(([base, effect]) => ({ ...base, ...effect }));

const policy = fc
  .record<Bundle>({
    policy_id: fc.constant('p'),
    version: fc.constantFrom('1', '2'),
    mode: fc.constantFrom('observe', 'guardrails', 'guardrails', 'control'),
    defaults: fc.record({
      decision_on_error: fc.constantFrom('ALLOW', 'BLOCK'),
      fail_open_read_tools: fc.boolean(),
    }),
    selectors: fc.record(
      { env: fc.subarray(['ci', 'dev', 'prod'], { minLength: 1 }) },
      { requiredKeys: [] },
    ),
    rules: fc.uniqueArray(rule, { maxLength: 6, selector: ({ rule_id }) => rule_id }),
  })
  .map(normalizeBundle);

/** Two policies that share most of their rules, in another order. */
const related = policy.chain((before) =>
  fc
    .tuple(
      fc.shuffledSubarray([...before.rules], { minLength: Math.max(0, before.rules.length - 1) }),
      fc.array(match, { minLength: 6, maxLength: 6 }),
      fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 6, maxLength: 6 }),
    )
    .map(([rules, matches, edits]) => {
      const edited = rules.map((one, at) =>
        edits[at] === 0 ? { ...one, match: matches[at] ?? {} } : one,
      );
      return { before, after: normalizeBundle({ ...before, rules: edited }) };
    }),
);
const pair = fc.oneof(fc.record({ before: policy, after: policy }), related);

const REVERSED = {
  loosens: 'tightens',
  tightens: 'loosens',
  mixed: 'mixed',
  alters: 'alters',
  none: 'none',
} as const;

describe('for any policies', () => {
  it('a policy is the same as itself', () => {
    fc.assert(
      fc.property(policy, (one) => {
        expect(diffBundles(one, structuredClone(one))).toMatchObject({ same: true, changes: [] });
      }),
    );
  });

  it('swapping the two swaps what loosens and what tightens', () => {
    verifies('SL-9.4');
    const known = (diff: ReturnType<typeof diffBundles>, swap: boolean) =>
      diff.changes
        .map(({ path, effect }) => `${path} ${swap ? REVERSED[effect] : effect}`)
        .toSorted();
    fc.assert(
      fc.property(pair, ({ before, after }) => {
        const there = known(diffBundles(before, after), false);
        expect(known(diffBundles(after, before), true)).toEqual(there);
      }),
      runs(1_000),
    );
  });

  it('the summary counts every change once by severity', () => {
    fc.assert(
      fc.property(pair, ({ before, after }) => {
        const { changes, summary } = diffBundles(before, after);
        expect(summary.critical + summary.warn + summary.info).toBe(changes.length);
        expect(summary.critical).toBe(summary.loosens + summary.mixed);
      }),
    );
  });
});

/** Limits by kind: which way a larger number goes. */
const LIMITS = {
  budget: { limit_calls: 'loosens', limit_cost_units: 'loosens', cost_units_per_call: 'tightens' },
  rate_limit: {
    capacity: 'loosens',
    refill_tokens: 'loosens',
    refill_period_ms: 'tightens',
    cost_tokens_per_call: 'tightens',
  },
  breaker: {
    error_threshold: 'loosens',
    window_ms: 'tightens',
    repeat_threshold: 'loosens',
    repeat_window_ms: 'tightens',
  },
} as const;
const NUMBERS = {
  budget: { limit_calls: 50, limit_cost_units: 50, cost_units_per_call: 50 },
  rate_limit: { capacity: 50, refill_tokens: 50, refill_period_ms: 50, cost_tokens_per_call: 50 },
  breaker: { error_threshold: 50, window_ms: 50, repeat_threshold: 50, repeat_window_ms: 50 },
} as const;

function limited(numbers: { readonly [K in keyof typeof NUMBERS]: (typeof NUMBERS)[K] }) {
  const base = { enabled: true, match: {}, severity: 'warn' } as const;
  const { budget, rate_limit, breaker } = numbers;
  const rules: readonly Rule[] = [
    {
      ...base,
      rule_id: 'budget',
      kind: 'budget',
      effect: { budget: { scope: 'run', on_exceed: 'BLOCK', ...budget } },
    },
    {
      ...base,
      rule_id: 'rate_limit',
      kind: 'rate_limit',
      effect: { rate_limit: { scope: 'run', on_limit: 'BLOCK', ...rate_limit } },
    },
    {
      ...base,
      rule_id: 'breaker',
      kind: 'breaker',
      effect: { breaker: { scope: 'run', on_trip: 'BLOCK', ...breaker } },
    },
  ];
  return normalizeBundle({
    policy_id: 'p',
    version: '1',
    mode: 'guardrails',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules,
  });
}

describe('for any limit', () => {
  const limits = Object.entries(LIMITS).flatMap(([kind, fields]) =>
    Object.entries(fields).map(([field, up]) => ({ kind, field, up })),
  );

  it.each(limits)(
    'one edit of $kind.$field is one change in its direction',
    ({ kind, field, up }) => {
      fc.assert(
        fc.property(fc.integer({ min: 2, max: 100 }), (value) => {
          const numbers = structuredClone(NUMBERS);
          Object.assign(Object.entries(numbers).find(([name]) => name === kind)?.[1] ?? {}, {
            [field]: value,
          });
          const { changes } = diffBundles(limited(NUMBERS), limited(numbers));
          const found = changes.filter(({ path }) => path !== 'version');
          const down = up === 'loosens' ? 'tightens' : 'loosens';
          const expected = { path: `rules[${kind}].effect.${kind}.${field}`, change: 'changed' };
          const effect = value > 50 ? up : down;
          expect(found).toMatchObject(value === 50 ? [] : [{ ...expected, effect }]);
        }),
      );
    },
  );
});
