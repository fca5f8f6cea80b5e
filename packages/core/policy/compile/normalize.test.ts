import { BUNDLE, type Bundle, check, type Rule } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { bundleOf } from '../testing/scenario.ts';
import { normalizeBundle } from './normalize.ts';

const FRAME = { rule_id: 'r', enabled: true, match: {}, severity: 'warn' } as const;
const globs = fc.uniqueArray(fc.constantFrom('a', 'b*', 'c**', '[x]', '{d,e}', '\\**'), {
  minLength: 1,
});
const kinds: fc.Arbitrary<Rule> = fc.constantFrom<Rule>(
  { ...FRAME, kind: 'allow', effect: { action: 'ALLOW' } },
  { ...FRAME, kind: 'deny', effect: { action: 'BLOCK', message: 'No.' } },
  {
    ...FRAME,
    kind: 'budget',
    effect: { budget: { scope: 'run', limit_calls: 1, on_exceed: 'BLOCK' } },
  },
  {
    ...FRAME,
    kind: 'rate_limit',
    effect: {
      rate_limit: {
        scope: 'run',
        capacity: 1,
        refill_tokens: 1,
        refill_period_ms: 1,
        on_limit: 'BLOCK',
      },
    },
  },
  { ...FRAME, kind: 'breaker', effect: { breaker: { scope: 'run', on_trip: 'TERMINATE_RUN' } } },
  {
    ...FRAME,
    kind: 'dedupe',
    effect: { dedupe: { scope: 'run', window_ms: 1, key: 'args_hash', on_duplicate: 'BLOCK' } },
  },
  { ...FRAME, kind: 'tag', effect: { tag: { add_risk_class: ['b', 'a', 'b'] } } },
  { ...FRAME, kind: 'approval', effect: { approval: { wait: 'hint' } } },
);
const bundles = fc.array(fc.tuple(kinds, globs, globs), { maxLength: 5 }).map((rules) =>
  bundleOf(
    rules.map(([rule, tools, classes]) => ({
      ...rule,
      match: { tool_name: { glob: tools }, risk_class: classes },
      description: 'for people',
    })),
    { description: 'for people', owner: 'team', created_at: '2026-01-01T00:00:00Z' },
  ),
);

/** What a snapshot stores, read as a bundle again. */
function asBundle(bundle: Bundle): Bundle {
  const { format: _format, ...rest } = normalizeBundle(bundle);
  return rest;
}

function reversed(bundle: Bundle): Bundle {
  const rules = bundle.rules.map((rule) => {
    const { tool_name, risk_class, ...match } = rule.match;
    return {
      ...rule,
      match: {
        ...match,
        ...(tool_name?.glob && {
          tool_name: { glob: [...tool_name.glob, 'a'].toReversed().concat('a') },
        }),
        ...(risk_class && { risk_class: risk_class.toReversed() }),
      },
    };
  });
  return { ...bundle, rules };
}

describe('normalizeBundle', () => {
  it('changes nothing the second time, and stays a valid bundle', () => {
    fc.assert(
      fc.property(bundles, (bundle) => {
        expect(check(BUNDLE, bundle)).toEqual([]);
        const once = asBundle(bundle);
        expect(check(BUNDLE, once)).toEqual([]);
        expect(asBundle(once)).toEqual(once);
      }),
    );
  });

  it('does not mind the order of alternatives, nor an alternative given twice', () => {
    fc.assert(
      fc.property(bundles, (bundle) => {
        const withA = bundleOf(
          bundle.rules.map((rule) => ({
            ...rule,
            match: {
              ...rule.match,
              tool_name: { glob: ['a', ...(rule.match.tool_name?.glob ?? [])] },
            },
          })),
        );
        expect(normalizeBundle(reversed(bundle)).rules).toEqual(normalizeBundle(withA).rules);
      }),
    );
  });

  it('keeps the order of rules', () => {
    const rules = ['c', 'a', 'b'].map((rule_id): Rule => {
      return { ...FRAME, rule_id, kind: 'allow', effect: { action: 'ALLOW' } };
    });
    const ids = normalizeBundle(bundleOf(rules)).rules.map(({ rule_id }) => rule_id);
    expect(ids).toEqual(['c', 'a', 'b']);
  });

  it('expands every default', () => {
    verifies('IP-2.6');
    const rules = fc.sample(kinds, { numRuns: 100, seed: 1 });
    const byKind = new Map(rules.map((rule) => [rule.kind, rule]));
    const document = normalizeBundle(bundleOf([...byKind.values()]));
    expect(document).toMatchObject({
      hint_delivery: 'error',
      defaults: { decision_on_error: 'BLOCK', fail_open_read_tools: false },
    });
    const effects = Object.fromEntries(document.rules.map((rule) => [rule.kind, rule.effect]));
    expect(effects).toEqual({
      allow: { action: 'ALLOW', reason_code: 'ALLOWLIST_MATCH' },
      deny: { action: 'BLOCK', reason_code: 'DENYLIST_MATCH', message: 'No.' },
      budget: {
        budget: { scope: 'run', limit_calls: 1, on_exceed: 'BLOCK', cost_units_per_call: 1 },
        reason_code: 'BUDGET_EXCEEDED',
      },
      rate_limit: {
        rate_limit: {
          scope: 'run',
          capacity: 1,
          refill_tokens: 1,
          refill_period_ms: 1,
          on_limit: 'BLOCK',
          cost_tokens_per_call: 1,
        },
        reason_code: 'RATE_LIMITED',
      },
      breaker: {
        breaker: { scope: 'run', on_trip: 'TERMINATE_RUN', terminate_code: 'BREAKER_TRIPPED' },
      },
      dedupe: {
        dedupe: { scope: 'run', window_ms: 1, key: 'args_hash', on_duplicate: 'BLOCK' },
        reason_code: 'DUPLICATE_CALL',
      },
      tag: { tag: { add_risk_class: ['a', 'b'] } },
      approval: {
        approval: { wait: 'hint', timeout_ms: 300_000 },
        reason_code: 'APPROVAL_REQUIRED',
      },
    });
  });

  it('does not touch what was written out', () => {
    const rule: Rule = {
      ...FRAME,
      kind: 'budget',
      effect: {
        budget: { scope: 'tool', limit_cost_units: 9, cost_units_per_call: 0, on_exceed: 'BLOCK' },
        reason_code: 'MINE',
      },
    };
    expect(normalizeBundle(bundleOf([rule])).rules[0]).toEqual(rule);
  });

  it('leaves out what is for people', () => {
    const text = JSON.stringify(
      normalizeBundle(
        bundleOf([{ ...FRAME, kind: 'allow', effect: { action: 'ALLOW' }, description: 'XX' }], {
          description: 'XX',
          owner: 'XX',
          created_at: '2026-01-01T00:00:00Z',
        }),
      ),
    );
    expect(text).not.toContain('XX');
    expect(text).not.toContain('2026');
  });
});
