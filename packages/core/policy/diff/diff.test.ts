import type { Bundle, Rule } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import type { Effect, PolicyChange } from '../changes/change.ts';
import { normalizeBundle } from '../compile/normalize.ts';
import { bundleOf } from '../testing/scenario.ts';
import { diffBundles } from './diff.ts';

const BASE = { enabled: true, match: {}, severity: 'warn' } as const;
const deny: Rule = { ...BASE, rule_id: 'deny', kind: 'deny', effect: { action: 'BLOCK' } };
const allow: Rule = { ...BASE, rule_id: 'allow', kind: 'allow', effect: { action: 'ALLOW' } };
const tag: Rule = {
  ...BASE,
  rule_id: 'tag',
  kind: 'tag',
  effect: { tag: { add_risk_class: ['write_like'] } },
};

function budget(parts: object = {}): Rule {
  const given = { scope: 'run', limit_calls: 5, on_exceed: 'BLOCK', ...parts } as const;
  return { ...BASE, rule_id: 'budget', kind: 'budget', effect: { budget: given } };
}
function rate(parts: object = {}): Rule {
  const bucket = { capacity: 5, refill_tokens: 1, refill_period_ms: 1_000 };
  const given = {
    scope: 'run',
    on_limit: 'THROTTLE',
    backoff_ms: 10,
    ...bucket,
    ...parts,
  } as const;
  return { ...BASE, rule_id: 'rate', kind: 'rate_limit', effect: { rate_limit: given } };
}
function breaker(parts: object = {}): Rule {
  const given = { scope: 'run', on_trip: 'BLOCK', error_threshold: 3, window_ms: 1_000, ...parts };
  return { ...BASE, rule_id: 'breaker', kind: 'breaker', effect: { breaker: given as never } };
}
function dedupe(parts: object = {}): Rule {
  const given = {
    scope: 'run',
    window_ms: 1_000,
    key: 'args_hash',
    on_duplicate: 'BLOCK',
  } as const;
  return { ...BASE, rule_id: 'dedupe', kind: 'dedupe', effect: { dedupe: { ...given, ...parts } } };
}
function approval(parts: object = {}): Rule {
  const given = { wait: 'hold', ...parts } as const;
  return { ...BASE, rule_id: 'approval', kind: 'approval', effect: { approval: given } };
}
const matching = (rule: Rule, match: Rule['match']): Rule => ({ ...rule, match });
const tools = (...glob: string[]) => ({ tool_name: { glob } });
const named = (rule: Rule, rule_id: string): Rule => ({ ...rule, rule_id });
const off = (rule: Rule): Rule => ({ ...rule, enabled: false });

function policy(parts: Partial<Bundle> = {}) {
  return normalizeBundle({
    policy_id: 'p',
    version: '1',
    mode: 'guardrails',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules: [],
    ...parts,
  });
}

/** Without the remark about the version, which every test of one field would meet. */
function changesOf(before: Partial<Bundle>, after: Partial<Bundle>): readonly PolicyChange[] {
  const { changes } = diffBundles(policy(before), policy(after));
  return changes.filter(({ path }) => path !== 'version');
}
const brief = ({ path, change, effect }: PolicyChange) => `${change} ${path}: ${effect}`;
const REVERSED = {
  loosens: 'tightens',
  tightens: 'loosens',
  mixed: 'mixed',
  alters: 'alters',
  none: 'none',
} as const;

function expectOne(
  { before, after }: { before: Partial<Bundle>; after: Partial<Bundle> },
  { path, effect }: { path: string; effect: Effect },
): void {
  expect(changesOf(before, after).map((one) => [one.path, one.effect])).toEqual([[path, effect]]);
  const back = changesOf(after, before).map((one) => [one.path, one.effect]);
  expect(back).toEqual([[path, REVERSED[effect]]]);
}

describe('the policy as a whole', () => {
  it('finds no change between a policy and itself', () => {
    const rules = [tag, deny, allow, budget(), rate(), breaker(), dedupe(), approval()];
    const diff = diffBundles(policy({ rules }), policy({ rules }));
    expect(diff.same).toBe(true);
    expect(diff.changes).toEqual([]);
  });

  it.each<[string, Effect, Partial<Bundle>, Partial<Bundle>]>([
    ['mode', 'tightens', { mode: 'observe' }, { mode: 'guardrails' }],
    ['mode', 'none', { mode: 'guardrails' }, { mode: 'control' }],
    ['mode', 'loosens', { mode: 'control' }, { mode: 'observe' }],
    ['policy_id', 'alters', {}, { policy_id: 'q' }],
    ['hint_delivery', 'alters', {}, { hint_delivery: 'tool_result' }],
    ['self_protection', 'loosens', {}, { self_protection: 'off' }],
    ['self_protection', 'tightens', { self_protection: 'off' }, { self_protection: 'on' }],
    ['defaults.decision_on_error', 'loosens', {}, { defaults: { decision_on_error: 'ALLOW' } }],
    [
      'defaults.fail_open_read_tools',
      'loosens',
      {},
      { defaults: { decision_on_error: 'BLOCK', fail_open_read_tools: true } },
    ],
    ['selectors.env', 'loosens', {}, { selectors: { env: ['ci'] } }],
    [
      'selectors.env',
      'loosens',
      { selectors: { env: ['ci', 'dev'] } },
      { selectors: { env: ['dev'] } },
    ],
    [
      'selectors.agent_id',
      'alters',
      { selectors: { agent_id: ['a'] } },
      { selectors: { agent_id: ['b'] } },
    ],
    [
      'selectors.workload.labels',
      'loosens',
      { selectors: { workload: { labels: { a: '1' } } } },
      { selectors: { workload: { labels: { a: '1', b: '2' } } } },
    ],
    [
      'selectors.workload.labels',
      'alters',
      { selectors: { workload: { labels: { a: '1' } } } },
      { selectors: { workload: { labels: { a: '2' } } } },
    ],
  ])('knows that a change of %s %s', (path, effect, before, after) => {
    verifies('SL-9.4');
    expectOne({ before, after }, { path, effect });
  });

  it('sees no change in the order of alternatives', () => {
    const before = { selectors: { env: ['ci', 'dev'] } };
    const [change] = changesOf(before, { selectors: { env: ['dev', 'ci'] } });
    expect(change).toMatchObject({
      effect: 'none',
      summary: 'the choice of environments is written differently',
    });
  });

  it('grades loosening as critical, doubt as warn and tightening as info', () => {
    verifies('SL-9.4');
    const diff = diffBundles(
      policy({ rules: [budget(), rate()] }),
      policy({
        version: '2',
        mode: 'control',
        hint_delivery: 'tool_result',
        rules: [budget({ limit_calls: 9 }), rate()],
      }),
    );
    const graded = diff.changes.map(({ path, severity }) => `${severity} ${path}`);
    expect(graded).toEqual([
      'info version',
      'info mode',
      'warn hint_delivery',
      'critical rules[budget].effect.budget.limit_calls',
    ]);
    expect(diff.summary).toEqual({
      critical: 1,
      warn: 1,
      info: 2,
      loosens: 1,
      mixed: 0,
      tightens: 0,
    });
    expect(diff.same).toBe(false);
  });

  it('warns of a version that stays while decisions change', () => {
    const { changes } = diffBundles(policy(), policy({ rules: [deny] }));
    expect(changes.map(brief)).toEqual(['added rules[deny]: tightens', 'changed version: alters']);
  });

  it('asks for no new version when only words change', () => {
    const worded: Rule = { ...deny, kind: 'deny', effect: { action: 'BLOCK', message: 'No.' } };
    const { changes } = diffBundles(policy({ rules: [deny] }), policy({ rules: [worded] }));
    expect(changes.map(brief)).toEqual(['added rules[deny].effect.message: none']);
  });
});

describe('rules that come and go', () => {
  it.each([deny, budget(), rate(), breaker(), dedupe(), approval()])(
    'tightens by adding $kind',
    (rule) => {
      const path = `rules[${rule.rule_id}]`;
      expectOne({ before: {}, after: { rules: [rule] } }, { path, effect: 'tightens' });
      const toggled = { before: { rules: [off(rule)] }, after: { rules: [rule] } };
      expectOne(toggled, { path: `${path}.enabled`, effect: 'tightens' });
    },
  );

  it.each<[string, Effect, readonly Rule[], readonly Rule[]]>([
    ['an allow above a deny', 'loosens', [deny], [allow, deny]],
    ['an allow above a budget', 'loosens', [budget()], [allow, budget()]],
    ['an allow below all that stops calls', 'none', [deny], [deny, allow]],
    [
      'an allow above a deny of other tools',
      'none',
      [matching(deny, tools('b'))],
      [matching(allow, tools('a')), matching(deny, tools('b'))],
    ],
    ['an allow above a deny that is off', 'none', [off(deny)], [allow, off(deny)]],
    ['a tag', 'alters', [deny], [tag, deny]],
    ['a disabled allow', 'none', [deny], [off(allow), deny]],
    ['a disabled deny', 'none', [allow], [allow, off(deny)]],
  ])('judges the addition of %s', (_name, effect, before, after) => {
    const added = after.find((rule) => !before.some((other) => other.rule_id === rule.rule_id));
    const path = `rules[${added?.rule_id}]`;
    expectOne({ before: { rules: before }, after: { rules: after } }, { path, effect });
  });

  it('finds no loosening in an allow that comes together with the deny it shields from', () => {
    expect(changesOf({}, { rules: [allow, deny] }).map(brief)).toEqual([
      'added rules[allow]: none',
      'added rules[deny]: tightens',
    ]);
  });

  it('treats a rule of another kind as another rule', () => {
    expect(changesOf({ rules: [deny] }, { rules: [named(tag, 'deny')] }).map(brief)).toEqual([
      'added rules[deny]: alters',
      'removed rules[deny]: loosens',
    ]);
  });

  it('leaves a change of a rule that is off without effect', () => {
    const rules = [off(budget())];
    expect(changesOf({ rules }, { rules: [off(budget({ limit_calls: 99 }))] }).map(brief)).toEqual([
      'changed rules[budget].effect.budget.limit_calls: none',
    ]);
  });
});

describe('policies that hold a second one', () => {
  const plain = normalizeBundle(bundleOf([{ ...deny, rule_id: 'a' }]));
  const looser = normalizeBundle(bundleOf([]));
  const effects = (diff: ReturnType<typeof diffBundles>) =>
    diff.changes.filter(({ path }) => path !== 'version').map(({ path, effect }) => [path, effect]);

  it('tighten by it, and loosen without it', () => {
    const both = { ...plain, tightened_by: looser };
    expect(effects(diffBundles(plain, both))).toEqual([['tightened_by', 'tightens']]);
    expect(effects(diffBundles(both, plain))).toEqual([['tightened_by', 'loosens']]);
  });

  it('differ in each of the two', () => {
    const before = { ...looser, tightened_by: plain };
    const after = { ...plain, tightened_by: looser };
    expect(effects(diffBundles(before, after))).toContainEqual([
      'tightened_by.rules[a]',
      'loosens',
    ]);
    expect(effects(diffBundles(before, after))).toContainEqual(['rules[a]', 'tightens']);
  });
});
