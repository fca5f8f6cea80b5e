import { RULE, type Rule, type RuleKindName } from '@subluminal/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { moreLoosens, trips } from '../changes/directions.ts';
import { fieldsOf } from '../changes/field.ts';
import { normalizeBundle } from '../compile/normalize.ts';
import { compileBundle } from '../compile/snapshot.ts';
import { scopeKey } from '../counters/scope.ts';
import { type CounterTable, keyIn, tableGet, tableSet } from '../counters/table.ts';
import { decide } from '../decide/decide.ts';
import { initialState } from '../decide/verdict.ts';
import { diffBundles } from '../diff/diff.ts';
import { explain } from '../explain/explain.ts';
import { lintBundle } from '../lint/lint.ts';
import { parseWhen } from '../match/when.ts';
import { warning } from '../model/advice.ts';
import { parseBundle } from '../read/parse.ts';
import { effectSection, type RuleKind } from '../rule-kind/rule-kind.ts';
import { countWords, type RuleReview } from '../rule-kind/rule-review.ts';
import { bundleText, NO_CHECKS, ruleText } from '../testing/sample-bundle.ts';
import { callOf } from '../testing/scenario.ts';
import { RULE_KINDS } from './index.ts';
import { RULE_REVIEWS } from './reviews.ts';

/** A kind that only this test knows: a tool may be called so many times, and no more. */
const NAME = 'quota' as RuleKindName;
type QuotaSlot = { readonly used: CounterTable<number> };
const limitOf = (rule: Rule) => Number(effectSection(rule)['limit']);

const quota: RuleKind<Rule, QuotaSlot> = {
  role: 'counts',
  actionField: 'on_limit',
  examples: { quota: '{ limit: 3, on_limit: BLOCK }', limit: '3', on_limit: 'BLOCK' },
  normalize: (rule) => rule,
  tables: () => ({ used: { lifeMs: Number.POSITIVE_INFINITY, whenFull: 'share' } }),
  decide: (rule, moment, slot) => {
    const key = keyIn(slot.used, scopeKey('tool', moment));
    const value = (tableGet(slot.used, key) ?? 0) + 1;
    const tally = { count: value, limit: limitOf(rule) };
    const { nowMs } = moment;
    const trip = { action: 'BLOCK', reasonCode: 'QUOTA', summary: 'Enough.', hintKind: 'BUDGET' };
    const used = tableSet(slot.used, key, { value, nowMs });
    const isOver = value > tally.limit;
    return { kind: 'count', slot: { used }, tally, trip: isOver ? (trip as never) : undefined };
  },
};

const quotaReview: RuleReview = {
  fields: fieldsOf('effect.quota', { limit: ['the quota', trips(moreLoosens)] }),
  lint: (rule, path) =>
    limitOf(rule) > 0
      ? []
      : [warning('SUB_LINT_NEVER_PASSES', path, ['no call passes', 'Fix it.'])],
  explainCount: (tally) => countWords(tally, 'of the quota'),
};

/** The shape of the effect, as contract B would have it. */
function quotaShape() {
  const { dedupe } = RULE.cases;
  const doc = '';
  const limit = { shape: { kind: 'integer', min: 0, max: 9 }, required: true, doc };
  const onLimit = { shape: { kind: 'enum', values: ['BLOCK'] }, required: true, doc };
  const object = (fields: object) => ({ kind: 'object', fields, closed: true, conditions: [] });
  const section = object({ limit, on_limit: onLimit });
  const effect = object({ quota: { shape: section, required: true, doc } });
  const kind = { shape: { kind: 'enum', values: [NAME] }, required: true, doc };
  const fields = { ...dedupe.fields, kind, effect: { shape: effect, required: true, doc } };
  return { ...dedupe, fields };
}

const withLimit = (limit: number) =>
  bundleText(ruleText({ kind: NAME, effect: `{ quota: { limit: ${limit}, on_limit: BLOCK } }` }));

function read(text: string) {
  const parsed = parseBundle({ file: 'policy.yaml', text }, { checks: NO_CHECKS });
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('; '));
  return parsed;
}

describe('a rule kind that is registered', () => {
  beforeAll(() => {
    Object.assign(RULE_KINDS, { [NAME]: quota });
    Object.assign(RULE_REVIEWS, { [NAME]: quotaReview });
    Object.assign(RULE.cases, { [NAME]: quotaShape() });
  });
  afterAll(() => {
    Reflect.deleteProperty(RULE_KINDS, NAME);
    Reflect.deleteProperty(RULE_REVIEWS, NAME);
    Reflect.deleteProperty(RULE.cases, NAME);
  });

  it('is read, and a mistake in it is explained with its own example', () => {
    expect(read(withLimit(2)).bundle.rules[0]?.kind).toBe(NAME);
    const text = bundleText(ruleText({ kind: NAME, effect: '{}' }));
    const parsed = parseBundle({ file: 'policy.yaml', text }, { checks: NO_CHECKS });
    expect(parsed.problems.map(({ fix }) => fix)).toEqual([
      'Add `quota: { limit: 3, on_limit: BLOCK }`.',
    ]);
  });

  it('is linted by its own check', () => {
    const { bundle, positionOf } = read(withLimit(0));
    const advice = lintBundle(bundle, positionOf, {
      file: 'policy.yaml',
      nowMs: 0,
      parseWhen,
    });
    expect(advice.map(({ code }) => code)).toContain('SUB_LINT_NEVER_PASSES');
  });

  it('is compiled, decides, and its count is explained', async () => {
    const snapshot = await compileBundle(read(withLimit(1)).bundle, { sha256: () => 'hash' });
    const call = callOf({});
    const first = decide(snapshot, call, initialState(snapshot), 0);
    expect(first.decision.action).toBe('ALLOW');
    const second = decide(snapshot, call, first.state, 1);
    expect(second.decision).toMatchObject({ action: 'BLOCK', reason_code: 'QUOTA' });
    const state = initialState(snapshot);
    const [rule] = explain(snapshot, { call, state, nowMs: 0 }).rules;
    expect(rule).toMatchObject({ outcome: 'counted', why: '1 of 1 of the quota' });
  });

  it('is compared by its own fields', () => {
    const [before, after] = [1, 2].map((limit) => normalizeBundle(read(withLimit(limit)).bundle));
    if (before === undefined || after === undefined) throw new Error('no policies');
    const [change] = diffBundles(before, after).changes;
    expect(change).toMatchObject({ path: 'rules[quota].effect.quota.limit', effect: 'loosens' });
    expect(change?.summary).toBe('the quota is raised');
  });
});
