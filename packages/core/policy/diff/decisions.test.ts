import type { Match, Rule } from '@subluminal/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { normalizeBundle } from '../compile/normalize.ts';
import { compileBundle } from '../compile/snapshot.ts';
import { decide } from '../decide/decide.ts';
import { allow, budget, bundleOf, callOf, deny } from '../decide/scenario.test-support.ts';
import { initialState } from '../decide/state.ts';
import type { Call } from '../types.ts';
import { diffBundles } from './diff.ts';

const RUNS = 1_000;

/** Every call that these policies can tell apart. */
const CALLS: readonly Call[] = ['git_push', 'git_pull', 'b'].flatMap((tool_name) =>
  [[], ['read_like'], ['write_like'], ['read_like', 'write_like']].flatMap((risk_class) =>
    [{}, { a: 1 }, { a: 5 }, { a: 'x', c: 1 }].map((args) =>
      callOf({ tool_name, risk_class, args }),
    ),
  ),
);

const match = fc.constantFrom<Match>(
  {},
  { tool_name: { glob: ['git_*'] } },
  { tool_name: { glob: ['git_push'] } },
  { tool_name: { glob: ['git_p*', 'b'] } },
  { tool_name: { regex: ['^b$'] } },
  { risk_class: ['write_like'] },
  { risk_class: ['read_like', 'write_like'] },
  { args: { has_keys: ['a'] } },
  { args: { has_keys: ['a', 'c'] } },
  { args: { numeric_range: { a: { max: 3 } } } },
  { args: { key_in: { a: [1, 5] } } },
);
const effect = fc.constantFrom<(rule_id: string) => Rule>(
  allow,
  allow,
  deny,
  (id) => budget(id, { limit_calls: 0 }),
  (id) => budget(id, { limit_calls: 1 }),
  (id) => budget(id, { limit_calls: 0, on_exceed: 'REJECT_WITH_HINT' }),
  (id) => budget(id, { limit_cost_units: 1, cost_units_per_call: 2, on_exceed: 'TERMINATE_RUN' }),
  (rule_id) => ({
    ...deny(rule_id),
    kind: 'tag',
    effect: { tag: { add_risk_class: ['write_like'] } },
  }),
);
const ruleNamed = (rule_id: string) =>
  fc
    .record({ make: effect, match, enabled: fc.constantFrom(true, true, true, false) })
    .map((parts): Rule => ({ ...parts.make(rule_id), match: parts.match, enabled: parts.enabled }));

const rules = fc.tuple(...['r1', 'r2', 'r3', 'r4'].map(ruleNamed));
const place = fc.integer({ min: 0, max: 3 });

/** One thing that a person may do to a policy. */
const edit = (newId: string) =>
  fc.oneof(
    fc.tuple(place, place).map(([from, to]) => (given: readonly Rule[]) => {
      const [moved] = given.slice(from, from + 1);
      const others = given.filter((_, at) => at !== from);
      return moved === undefined ? given : others.toSpliced(to, 0, moved);
    }),
    fc.tuple(place, match).map(
      ([at, other]) =>
        (given: readonly Rule[]) =>
          given.map((rule, index) => (index === at ? { ...rule, match: other } : rule)),
    ),
    fc.tuple(place, ruleNamed(newId)).map(
      ([at, rule]) =>
        (given: readonly Rule[]) =>
          given.toSpliced(at, 0, rule),
    ),
    fc.tuple(place, fc.constantFrom('r1', 'r2', 'r3', 'r4').chain(ruleNamed)).map(
      ([at, rule]) =>
        (given: readonly Rule[]) =>
          given.map((one, index) => (index === at ? { ...rule, rule_id: one.rule_id } : one)),
    ),
    place.map((at) => (given: readonly Rule[]) => given.filter((_, index) => index !== at)),
  );

const edited = fc
  .tuple(rules, edit('new1'), edit('new2'))
  .map(([before, once, twice]) => ({ before, after: twice(once(before)) }));

const document = (given: readonly Rule[]) => normalizeBundle(bundleOf(given));

/** Which of the calls a policy lets pass, each as the first of a run. */
async function passes(given: readonly Rule[]): Promise<readonly boolean[]> {
  const sha256 = (text: string) => String(text.length);
  const snapshot = await compileBundle(bundleOf(given), { sha256 });
  const state = initialState(snapshot);
  return CALLS.map((call) => decide(snapshot, call, state, 0).decision.action === 'ALLOW');
}

it('nothing starts to pass or to be stopped without a change that says so', async () => {
  verifies('SL-9.4');
  const seen = { passing: 0, stopped: 0 };
  await fc.assert(
    fc.asyncProperty(edited, async ({ before, after }) => {
      const { changes } = diffBundles(document(before), document(after));
      const effects = new Set(changes.map((one) => (one.path === 'version' ? 'none' : one.effect)));
      const [was, is] = await Promise.all([passes(before), passes(after)]);
      const passing = is.some((pass, at) => pass && was[at] === false);
      const stopped = is.some((pass, at) => !pass && was[at] === true);
      expect(!passing || effects.has('loosens') || effects.has('alters')).toBe(true);
      expect(!stopped || effects.has('tightens') || effects.has('alters')).toBe(true);
      seen.passing += Number(passing);
      seen.stopped += Number(stopped);
    }),
    { numRuns: RUNS },
  );
  // The calls and the edits must be such that there was something to find.
  expect(Math.min(seen.passing, seen.stopped)).toBeGreaterThan(RUNS / 20);
});
