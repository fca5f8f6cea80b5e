import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { decideTurn } from './decide-turn.ts';
import {
  envelope,
  policyFrom,
  policyOf,
  serverClass,
  turn,
  WORKED_POLICY,
} from './worked-policy.test-support.ts';

const like = (pattern: RegExp): unknown => expect.stringMatching(pattern);

const RULES = {
  R1: { id: 'R1', action: 'block', priority: 1000 },
  R2: { id: 'R2', action: 'redact', priority: 990 },
  R3: { id: 'R3', action: 'route_to_private_model', priority: 700 },
  R4: { id: 'R4', action: 'route', model_pool: 'standard', priority: 500 },
  R5: { id: 'R5', action: 'shadow_eval', model_pool: 'strong', priority: 100 },
} as const;

describe('the three slots', () => {
  it('let a block veto everything else', () => {
    verifies('R-12');
    const policy = policyOf(Object.values(RULES));
    expect(decideTurn(policy, turn()).decision).toEqual({
      primary_action: 'block',
      modifiers: [],
      side_effects: [],
      reasons: ['R1'],
    });
  });

  it('stack modifiers and side effects on the route', () => {
    verifies('R-12');
    const policy = policyOf([RULES.R5, RULES.R3, RULES.R2]);
    expect(decideTurn(policy, turn()).decision).toEqual({
      primary_action: 'route_to_private_model',
      modifiers: ['redact'],
      side_effects: ['shadow_eval'],
      model_pool: 'private_strong',
      shadow_pool: 'strong',
      reasons: ['R2', 'R3', 'R5'],
      required_trust_tier: 'private',
    });
  });

  it('fall through to the default when nothing matches', () => {
    verifies('R-12');
    const policy = policyOf([{ ...RULES.R1, when: 'false' }]);
    expect(decideTurn(policy, turn()).decision).toEqual({
      primary_action: 'route',
      modifiers: [],
      side_effects: [],
      model_pool: 'standard',
      reasons: ['default-fallthrough'],
    });
  });

  it('let an approval hold before any route, with the route that follows it', () => {
    const approval = { id: 'A', action: 'require_approval', priority: 1 };
    expect(decideTurn(policyOf([RULES.R4, RULES.R2, approval]), turn()).decision).toMatchObject({
      primary_action: 'require_approval',
      modifiers: ['redact'],
      model_pool: 'standard',
      reasons: ['R2', 'R4', 'A'],
    });
    const toStrong = { ...approval, model_pool: 'strong' };
    expect(decideTurn(policyOf([RULES.R4, toStrong]), turn()).decision.model_pool).toBe('strong');
  });

  it.each([
    ['cheap', 'strong'],
    ['standard', 'strong'],
    ['strong', 'strong'],
    ['private_strong', 'private_strong'],
  ])('escalate a turn from %s to %s', (model_pool, pool) => {
    const policy = policyOf([
      { action: 'route', model_pool, modifiers: ['escalate_to_strong_model'] },
    ]);
    expect(decideTurn(policy, turn()).decision.model_pool).toBe(pool);
  });

  it('send what is allowed to the default pool', () => {
    const policy = policyOf([{ action: 'allow' }], {
      defaults: { on_no_match: { action: 'block', model_pool: 'cheap' } },
    });
    expect(decideTurn(policy, turn()).decision).toMatchObject({
      primary_action: 'allow',
      model_pool: 'cheap',
    });
    const closed = policyOf([{ action: 'redact' }], {
      defaults: { on_no_match: { action: 'block', reasons: ['closed'] } },
    });
    expect(decideTurn(closed, turn()).decision).toEqual({
      primary_action: 'block',
      modifiers: [],
      side_effects: [],
      reasons: ['closed'],
    });
  });

  it('name no route that lost against another', () => {
    const policy = policyOf([RULES.R4, { ...RULES.R4, id: 'R6', model_pool: 'strong' }]);
    expect(decideTurn(policy, turn()).decision).toMatchObject({
      model_pool: 'standard',
      reasons: ['R4'],
    });
  });
});

test.each([
  ['summary', 'low', 'cheap'],
  ['summary', 'medium', 'cheap'],
  ['test_output', 'medium', 'cheap'],
  ['repo_search', 'low', 'cheap'],
  ['simple_edit', 'medium', 'standard'],
  ['code_edit', 'low', 'standard'],
  ['planning', 'medium', 'standard'],
  ['planning', 'high', 'private_strong'],
  ['architecture', 'low', 'strong'],
  ['debug', 'medium', 'strong'],
  ['security_review', 'low', 'strong'],
  ['unknown', 'low', 'standard'],
  ['review', 'low', 'standard'],
  ['summary', 'high', 'private_strong'],
])('the worked policy sends %s of %s sensitivity to %s', (taskType, dataSensitivity, pool) => {
  verifies('R-12');
  const policy = policyFrom(WORKED_POLICY);
  const input = turn({ serverClass: serverClass({ taskType, dataSensitivity }) });
  expect(decideTurn(policy, input).decision.model_pool).toBe(pool);
});

test('the worked policy blocks a secret in a restricted repository, and redacts one elsewhere', () => {
  const policy = policyFrom(WORKED_POLICY);
  const restricted = envelope({ repo: { repo_id: 'repo_keys_vault' } });
  const secret = serverClass({
    hasSecretFinding: true,
    findings: [{ type: 'aws_key', confidence: 'high' }],
  });
  expect(decideTurn(policy, turn({ envelope: restricted, serverClass: secret }))).toMatchObject({
    decision: { primary_action: 'block', reasons: ['P-SEC-001'] },
    messages: ['restricted-repo + secret-detected'],
  });
  expect(decideTurn(policy, turn({ envelope: restricted })).decision).toMatchObject({
    primary_action: 'route_to_private_model',
    reasons: ['P-ROUTE-004'],
  });
  expect(decideTurn(policy, turn({ serverClass: secret })).decision).toMatchObject({
    primary_action: 'route',
    modifiers: ['redact'],
    reasons: ['P-SEC-002', 'P-ROUTE-002'],
  });
});

test('the worked policy asks when the budget of the team is used up, and not when there is no cap', () => {
  const policy = policyFrom(WORKED_POLICY);
  const action = (used: number, cap: number | null) => {
    const budget = { ...turn().budget, teamMonthlyUsedMicros: used, teamMonthlyCapMicros: cap };
    return decideTurn(policy, turn({ budget })).decision.primary_action;
  };
  expect(action(50_000_000, 50_000_000)).toBe('require_approval');
  expect(action(49_999_999, 50_000_000)).toBe('route');
  expect(action(Number.MAX_SAFE_INTEGER, null)).toBe('route');
});

test('a turn without envelope and repository is decided, and fails no rule', () => {
  const { envelope: _e, repo: _r, ...bare } = turn();
  const decided = decideTurn(policyFrom(WORKED_POLICY), bare);
  expect(decided.failures).toEqual([]);
  expect(decided.decision.primary_action).toBe('route');
});

test('rand() is drawn from the trace and the rule: the same for the same, about as often as it says', () => {
  const policy = policyFrom(WORKED_POLICY);
  const shadowed = (traceId: string) => {
    return decideTurn(policy, turn({ traceId })).decision.side_effects.includes('shadow_eval');
  };
  const traces = Array.from({ length: 2_000 }, (_, index) => `trace-${index}`);
  const first = traces.map(shadowed);
  expect(traces.map(shadowed)).toEqual(first);
  const share = first.filter(Boolean).length / traces.length;
  expect(share).toBeGreaterThan(0.03);
  expect(share).toBeLessThan(0.07);
});

describe('a rule that can not be evaluated', () => {
  const failing = 'request.max_tokens / (request.max_tokens - request.max_tokens) > 0';

  it.each([
    ['block', { action: 'block' }, { primary_action: 'block', reasons: ['X'] }],
    ['require_approval', { action: 'require_approval' }, { primary_action: 'require_approval' }],
    ['redact', { action: 'redact' }, { modifiers: ['redact'] }],
    [
      'route_to_private_model',
      { action: 'route_to_private_model' },
      { primary_action: 'route_to_private_model' },
    ],
    [
      'a constraint',
      { action: 'route', model_pool: 'cheap', emit: 'required_trust_tier = "private"' },
      { primary_action: 'route', model_pool: 'standard', required_trust_tier: 'private' },
    ],
  ])('counts as a match when it restricts: %s', (_, rule, decision) => {
    const decided = decideTurn(policyOf([{ id: 'X', when: failing, ...rule }]), turn());
    expect(decided.decision).toMatchObject(decision);
    expect(decided.failures).toEqual([{ ruleId: 'X', why: like(/zero/i), isMatch: true }]);
  });

  it.each([
    ['allow', { action: 'allow' }],
    ['route', { action: 'route', model_pool: 'strong' }],
    ['escalate_to_strong_model', { action: 'escalate_to_strong_model' }],
    ['shadow_eval', { action: 'shadow_eval', model_pool: 'strong' }],
  ])('counts as none when it lets pass: %s', (_, rule) => {
    const decided = decideTurn(policyOf([{ id: 'X', when: failing, ...rule }]), turn());
    expect(decided.decision).toEqual(decideTurn(policyOf([]), turn()).decision);
    expect(decided.failures).toMatchObject([{ ruleId: 'X', isMatch: false }]);
  });

  it('blocks when it is a constraint that nobody knows', () => {
    const emit = [
      'required_data_residency = request.max_tokens > 0 ? [string(1/(request.max_tokens-64000))] : ["eu"]',
    ];
    const decided = decideTurn(policyOf([{ id: 'X', action: 'allow', emit }]), turn());
    expect(decided.decision).toMatchObject({ primary_action: 'block', reasons: ['X'] });
    expect(decided.failures).toMatchObject([{ ruleId: 'X', isMatch: true }]);
  });
});

describe('constraints', () => {
  const eu = {
    id: 'EU',
    when: '"public" in repo.tags',
    emit: 'required_data_residency = ["eu", "on_prem"]',
  };

  it('are emitted beside the route', () => {
    expect(decideTurn(policyOf([eu]), turn()).decision).toMatchObject({
      primary_action: 'route',
      required_data_residency: ['eu', 'on_prem'],
      reasons: ['EU', 'default-fallthrough'],
    });
  });

  it('of several rules hold at once', () => {
    const policy = policyOf([
      eu,
      { emit: ['required_data_residency = endpoints["azure-tenant-1"].data_residency'] },
      { emit: ['required_trust_tier = "partner"', 'required_capabilities = ["tools"]'] },
      { emit: ['required_trust_tier = "vendor"', 'required_capabilities = ["images", "tools"]'] },
    ]);
    expect(decideTurn(policy, turn()).decision).toMatchObject({
      required_data_residency: ['eu'],
      required_trust_tier: 'partner',
      required_capabilities: ['tools', 'images'],
    });
  });

  it('that no place satisfies block the turn, and the rules are named', () => {
    const policy = policyOf([eu, { id: 'US', emit: 'required_data_residency = ["us"]' }]);
    expect(decideTurn(policy, turn()).decision).toMatchObject({
      primary_action: 'block',
      reasons: ['EU', 'US'],
    });
  });
});

describe('whatever the rules', () => {
  const verbs = [
    { action: 'allow' },
    { action: 'block' },
    { action: 'route', model_pool: 'cheap' },
    { action: 'route', model_pool: 'strong' },
    { action: 'route_to_private_model' },
    { action: 'require_approval' },
    { action: 'redact' },
    { action: 'escalate_to_strong_model' },
    { action: 'shadow_eval', model_pool: 'strong' },
    { action: 'log_only' },
  ];
  const rule = fc.record({
    verb: fc.constantFrom(...verbs),
    priority: fc.integer({ min: 0, max: 3 }),
    when: fc.constantFrom('true', 'false'),
  });
  const written = (rules: readonly { verb: object; priority: number; when: string }[]) => {
    return rules.map(({ verb, priority, when }) => ({ ...verb, priority, when }));
  };
  const rules = fc.array(rule, { maxLength: 8 }).map(written);
  const decide = (of: readonly { readonly [name: string]: unknown }[]) => {
    return decideTurn(policyOf(of), turn()).decision;
  };

  it('a block that matches always wins', () => {
    fc.assert(
      fc.property(rules, (some) => {
        const isBlocked = some.some(
          (one) => 'action' in one && one.action === 'block' && one.when === 'true',
        );
        expect(decide(some).primary_action === 'block').toBe(isBlocked);
      }),
      { numRuns: 60 },
    );
  });

  it('a modifier or a side effect that is added never changes the primary action', () => {
    const extra = fc.constantFrom(
      { action: 'redact' },
      { action: 'escalate_to_strong_model' },
      { action: 'log_only' },
      { modifiers: ['redact'], side_effects: ['log_only'] },
    );
    const priority = fc.integer({ min: -1, max: 4 });
    fc.assert(
      fc.property(rules, extra, priority, (some, more, at) => {
        const before = decide(some).primary_action;
        expect(decide([...some, { ...more, id: 'extra', priority: at }]).primary_action).toBe(
          before,
        );
      }),
      { numRuns: 60 },
    );
  });

  it('rules of the same priority are taken in the order of the file', () => {
    fc.assert(
      fc.property(rules, (some) => {
        const { reasons } = decide(some);
        const places = reasons.map((id) => some.findIndex((_, index) => `R${index + 1}` === id));
        const known = places.filter((place) => place >= 0);
        const sorted = known.toSorted((a, b) => {
          return (some[b]?.priority ?? 0) - (some[a]?.priority ?? 0) || a - b;
        });
        expect(known).toEqual(sorted);
      }),
      { numRuns: 60 },
    );
  });
});
