import type { Bundle, Decision, Match, Rule } from '@subluminal/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { runs } from '../../../../test/runs.ts';
import type { PolicyChange } from '../changes/change.ts';
import { normalizeBundle } from '../compile/normalize.ts';
import { compileBundle } from '../compile/snapshot.ts';
import { decide } from '../decide/decide.ts';
import { initialState } from '../decide/verdict.ts';
import type { Call } from '../model/call.ts';
import {
  allow,
  budget,
  bundleOf,
  callOf,
  deny,
  jsonObject,
  rateLimit,
} from '../testing/scenario.ts';
import { diffBundles } from './diff.ts';

const RUNS = runs(800);

const ARGS = ['{}', '{"a":1}', '{"a":5}', '{"a":"x","c":1}', '{"a":{"b":1}}', '{"constructor":1}'];
/** Every call that these policies can tell apart; one of them has arguments too large to see. */
const CALLS: readonly Call[] = ['git_push', 'git_pull', 'b'].flatMap((tool_name) =>
  [[], ['read_like'], ['write_like']].flatMap((risk_class) => {
    const { args: _large, ...unseen } = callOf({ tool_name, risk_class });
    const seen = [...ARGS, '{"__proto__":1,"toString":2}'].map((args) =>
      callOf({ tool_name, risk_class, args: jsonObject(args) }),
    );
    return [unseen, ...seen];
  }),
);

const named = fc.constantFrom<Match>(
  {},
  {},
  { tool_name: { glob: ['git_*'] } },
  { tool_name: { glob: ['git_push'] } },
  { tool_name: { glob: ['git_p*', 'b'] } },
  { tool_name: { regex: ['^b$'] } },
  { risk_class: ['write_like'] },
  { risk_class: ['read_like', 'write_like'] },
);
const ranges = JSON.stringify({ numeric_range: { toString: { max: 2 } } });
const argued = fc.constantFrom<Match>(
  { args: { has_keys: ['a'] } },
  { args: { has_keys: ['a', 'c'] } },
  { args: { has_keys: ['constructor'] } },
  { args: { numeric_range: { a: { max: 3 } } } },
  { args: { numeric_range: { a: { max: 3 }, toString: { max: 2 } } } },
  { args: jsonObject(ranges) },
  { args: { key_in: { a: [1, 5] } } },
  { args: { key_equals: { constructor: 1 } } },
  { args: jsonObject('{"key_equals":{"__proto__":1}}') },
);
const match = fc.oneof({ weight: 3, arbitrary: named }, { weight: 1, arbitrary: argued });
/** Conditions that hold, that read classes, and that fail for some of the calls. */
const when = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  undefined,
  'args.a.b == 1',
  'args.a == 1',
  '"write_like" in call.risk_class',
  'call.tool_name == "b"',
);

const asks = (rule_id: string): Rule => ({
  ...deny(rule_id),
  kind: 'approval',
  effect: { approval: { wait: 'hold' } },
});
const hints = (rule_id: string): Rule => ({
  ...deny(rule_id),
  kind: 'deny',
  effect: { action: 'BLOCK', hint: { hint_text: 'Ask first.' } },
});
const tags =
  (name: string) =>
  (rule_id: string): Rule => ({
    ...deny(rule_id),
    kind: 'tag',
    effect: { tag: { add_risk_class: [name] } },
  });
const throttle = { cost_tokens_per_call: 2, on_limit: 'THROTTLE', backoff_ms: 5 } as const;
const effect = fc.constantFrom<(rule_id: string) => Rule>(
  allow,
  allow,
  allow,
  deny,
  deny,
  hints,
  asks,
  asks,
  (id) => budget(id, { limit_calls: 0 }),
  (id) => budget(id, { limit_calls: 1 }),
  (id) => budget(id, { limit_calls: 0, on_exceed: 'REJECT_WITH_HINT' }),
  (id) => budget(id, { limit_calls: 1, on_exceed: 'TERMINATE_RUN' }),
  (id) => budget(id, { limit_calls: 0, on_exceed: 'TERMINATE_RUN' }),
  (id) => budget(id, { limit_cost_units: 1, cost_units_per_call: 2, on_exceed: 'TERMINATE_RUN' }),
  (id) => rateLimit(id, throttle),
  tags('write_like'),
  tags('read_like'),
);
const parts = { make: effect, match, when, enabled: fc.constantFrom(true, true, true, false) };
const ruleNamed = (rule_id: string) =>
  fc.record(parts).map((one): Rule => {
    const { make, match: matched, when: condition, enabled } = one;
    const rule = { ...make(rule_id), match: matched, enabled };
    return condition === undefined ? rule : { ...rule, when: condition };
  });

type Policy = Pick<Bundle, 'mode' | 'defaults' | 'rules'>;
const frame = {
  mode: fc.constantFrom<Bundle['mode']>('guardrails', 'control', 'control', 'observe'),
  defaults: fc.record({
    decision_on_error: fc.constantFrom<Bundle['defaults']['decision_on_error']>(
      'BLOCK',
      'BLOCK',
      'ALLOW',
    ),
    fail_open_read_tools: fc.constantFrom(false, false, true),
  }),
};
const rules = fc.tuple(...['r1', 'r2', 'r3', 'r4'].map(ruleNamed));
const policy: fc.Arbitrary<Policy> = fc.record({ ...frame, rules });
const place = fc.integer({ min: 0, max: 3 });

type Edit = (given: Policy) => Policy;
const onRules =
  (edit: (given: readonly Rule[]) => readonly Rule[]): Edit =>
  (given) => ({ ...given, rules: edit(given.rules) });
const onRule = (at: number, edit: (rule: Rule) => Rule): Edit =>
  onRules((given) => given.map((rule, index) => (index === at ? edit(rule) : rule)));

/** One thing that a person may do to a policy. */
const edit = (newId: string) =>
  fc.oneof(
    fc.tuple(place, place).map(([from, to]) =>
      onRules((given) => {
        const [moved] = given.slice(from, from + 1);
        const others = given.filter((_, at) => at !== from);
        return moved === undefined ? given : others.toSpliced(to, 0, moved);
      }),
    ),
    fc.tuple(place, match).map(([at, other]) => onRule(at, (one) => ({ ...one, match: other }))),
    fc.tuple(place, when).map(([at, condition]) =>
      onRule(at, ({ when: _old, ...one }) => {
        return condition === undefined ? one : { ...one, when: condition };
      }),
    ),
    fc
      .tuple(place, ruleNamed(newId))
      .map(([at, rule]) => onRules((given) => given.toSpliced(at, 0, rule))),
    fc
      .tuple(place, ruleNamed(newId))
      .map(([at, rule]) => onRule(at, ({ rule_id }) => ({ ...rule, rule_id }))),
    place.map((at) => onRule(at, (one) => ({ ...one, enabled: !one.enabled }))),
    place.map((at) => onRules((given) => given.filter((_, index) => index !== at))),
    fc.record(frame, { requiredKeys: [] }).map(
      (other): Edit =>
        (given) => ({ ...given, ...other }),
    ),
  );

const edited = fc
  .tuple(
    policy,
    edit('new1'),
    fc.oneof(
      fc.constant<Edit>((same) => same),
      edit('new2'),
    ),
  )
  .map(([before, once, twice]) => ({ before, after: twice(once(before)) }));

/** From what passes to what ends the run; what a person may release is milder than a plain no. */
function strictness({ action, approval }: Decision): number {
  const asked = action === 'REJECT_WITH_HINT' && approval !== undefined;
  const order = ['ALLOW', 'THROTTLE', 'ASK', 'REJECT_WITH_HINT', 'BLOCK', 'TERMINATE_RUN'];
  return order.indexOf(asked ? 'ASK' : action);
}

const bundle = ({ rules: given, ...rest }: Policy) => bundleOf(given, rest);

/** How strictly a policy treats each of the calls, made twice in a run of its own. */
async function treatments(given: Policy): Promise<readonly number[]> {
  const sha256 = (text: string) => String(text.length);
  const snapshot = await compileBundle(bundle(given), { sha256 });
  return CALLS.flatMap((call) => {
    const first = decide(snapshot, call, initialState(snapshot), 0);
    const second = decide(snapshot, call, first.state, 1);
    return [strictness(first.decision), strictness(second.decision)];
  });
}

/** What changed, without the remark that every edit of these gets: the version stays the same. */
function changesBetween(before: Policy, after: Policy): readonly PolicyChange[] {
  const { changes } = diffBundles(normalizeBundle(bundle(before)), normalizeBundle(bundle(after)));
  return changes.filter(({ path }) => path !== 'version');
}

it('no call gets milder or stricter without a change that reports it', async () => {
  verifies('SL-9.4');
  const seen = { milder: 0, stricter: 0 };
  await fc.assert(
    fc.asyncProperty(edited, async ({ before, after }) => {
      const changes = changesBetween(before, after);
      const effects = new Set(changes.map((one) => one.effect));
      const severities = new Set(changes.map((one) => one.severity));
      const [was, is] = await Promise.all([treatments(before), treatments(after)]);
      const milder = is.some((one, at) => one < (was[at] ?? 0));
      const stricter = is.some((one, at) => one > (was[at] ?? 0));
      const doubtful = effects.has('alters');
      const warned = severities.has(doubtful ? 'warn' : 'critical');
      const told = doubtful || effects.has('tightens') || effects.has('mixed');
      expect({ milder, warned: warned || !milder }).toEqual({ milder, warned: true });
      expect({ stricter, told: told || !stricter }).toEqual({ stricter, told: true });
      seen.milder += Number(milder);
      seen.stricter += Number(stricter);
    }),
    RUNS,
  );
  // The calls and the edits must be such that there was something to find.
  expect(Math.min(seen.milder, seen.stricter)).toBeGreaterThan(RUNS.numRuns / 20);
});
