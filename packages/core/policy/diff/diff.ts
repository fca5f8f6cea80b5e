// What changed between two policies, and which way each change goes.
import type { JsonValue, Rule, SnapshotDocument } from '@subluminal/contracts';
import { changeOf, type PolicyChange, type PolicyDiff, type Reach } from '../changes/change.ts';
import { presence, valueAt } from '../changes/directions.ts';
import type { Field } from '../changes/field.ts';
import { isSame, type Value } from '../changes/relation.ts';
import { ruleReview } from '../rules/reviews.ts';
import { DOCUMENT_FIELDS, RULE_FIELDS } from './fields.ts';
import { movesOf, tooMany } from './moves.ts';
import {
  type ComparedRule,
  type Comparison,
  comparisonOf,
  failuresReach,
  reachOf,
} from './reach.ts';
import { SECTIONS } from './sections.ts';

interface Subject {
  /** Where the fields stand: empty for the document, `rules[id].` for a rule. */
  readonly prefix: string;
  readonly ruleId: string | null;
  readonly reach: Reach;
  /** Whether its fields count at all; those of a rule that is not in force do not. */
  readonly inForce: boolean;
  readonly around: { readonly before: JsonValue; readonly after: JsonValue };
}

/** Compares two normalised policies. Swapping them swaps what loosens and what tightens. */
export function diffBundles(before: SnapshotDocument, after: SnapshotDocument): PolicyDiff {
  return summarised([...changesBetween(before, after), ...tighteningChanges(before, after)]);
}

/** A second policy can only tighten. The counters of one that comes or goes start anew. */
function tighteningChanges(
  { tightened_by: before }: SnapshotDocument,
  { tightened_by: after }: SnapshotDocument,
): readonly PolicyChange[] {
  if (before !== undefined && after !== undefined) {
    const changes = changesBetween(before, after);
    return changes.map((change) => ({ ...change, path: `tightened_by.${change.path}` }));
  }
  if (before === after) return [];
  const isAdded = after !== undefined;
  const change = changeOf({
    path: 'tightened_by',
    rule_id: null,
    change: isAdded ? 'added' : 'removed',
    effect: isAdded ? 'tightens' : 'loosens',
    summary: isAdded ? 'a second policy tightens this one' : 'no second policy tightens this one',
    before: before?.policy_id ?? null,
    after: after?.policy_id ?? null,
  });
  return [change];
}

function changesBetween(
  before: SnapshotDocument,
  after: SnapshotDocument,
): readonly PolicyChange[] {
  const among = comparisonOf(before, after);
  const moved = movesOf(among);
  const changes = [
    ...documentChanges(before, after, among),
    ...moved.filter(({ rule_id }) => rule_id === null),
    ...among.rules.flatMap((one) => [
      ...ruleChanges(one, among),
      ...moved.filter(({ rule_id }) => rule_id === one.id && one.before && one.after),
    ]),
  ];
  const doubts = among.steps.left < 0 ? [tooMany('changed', among)] : [];
  return [...changes, ...doubts, ...staleVersion(before, after, changes)];
}

function documentChanges(
  before: SnapshotDocument,
  after: SnapshotDocument,
  among: Comparison,
): readonly PolicyChange[] {
  const around = { before: { ...before }, after: { ...after } };
  const sections = SECTIONS.flatMap(({ whole, fields }) => {
    const isIn = (policy: JsonValue) => valueAt(policy, whole.path) !== undefined;
    return isIn(around.before) && isIn(around.after) ? fields : [whole];
  });
  const reach = failuresReach(among);
  const subject = { prefix: '', ruleId: null, reach, inForce: true, around };
  return fieldChanges([...DOCUMENT_FIELDS, ...sections], subject);
}

function ruleChanges(one: ComparedRule, among: Comparison): readonly PolicyChange[] {
  const [before, after] = [one.before?.rule, one.after?.rule];
  const reach = reachOf(one, among);
  if (before === undefined || after === undefined) {
    const rule = after ?? before;
    return rule === undefined
      ? []
      : [wholeRule(after === undefined ? 'removed' : 'added', rule, reach)];
  }
  return fieldChanges([...RULE_FIELDS, ...ruleReview(after.kind).fields], {
    prefix: `rules[${one.id}].`,
    ruleId: one.id,
    reach,
    inForce: one.steady,
    around: { before: { ...before }, after: { ...after } },
  });
}

function fieldChanges(fields: readonly Field[], subject: Subject): readonly PolicyChange[] {
  const { around, reach, prefix, ruleId } = subject;
  return fields.flatMap((field) => {
    const before = valueAt(around.before, field.path);
    const after = valueAt(around.after, field.path);
    if (isSame(before, after)) return [];
    // Of a rule that is switched on or off, the other fields counted on one side only.
    const counts = subject.inForce || field.path === 'enabled';
    return changeOf({
      path: prefix + field.path,
      rule_id: ruleId,
      change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
      effect: counts ? field.direction({ before, after, reach, around }) : 'none',
      summary: `${field.words} ${verbOf(field, before, after)}`,
      before: before ?? null,
      after: after ?? null,
    });
  });
}

function verbOf(field: Field, before: Value, after: Value): string {
  const relation = field.relate?.(before, after);
  if (relation === 'narrower') return 'is narrowed';
  if (relation === 'wider') return 'is widened';
  if (relation === 'same') return 'is written differently';
  if (before === undefined) return 'is set';
  if (after === undefined) return 'is dropped';
  if (typeof before === 'boolean') return after === true ? 'is switched on' : 'is switched off';
  if (typeof before !== 'number' || typeof after !== 'number') return 'changes';
  return after > before ? 'is raised' : 'is lowered';
}

function wholeRule(change: 'added' | 'removed', rule: Rule, reach: Reach): PolicyChange {
  const added = change === 'added';
  const around = { before: null, after: null };
  const effect = presence({ before: !added, after: added, reach, around });
  const value: JsonValue = { ...rule };
  return changeOf({
    path: `rules[${rule.rule_id}]`,
    rule_id: rule.rule_id,
    change,
    effect: rule.enabled ? effect : 'none',
    summary: `the ${rule.enabled ? '' : 'disabled '}${rule.kind} rule is ${change}`,
    before: added ? null : value,
    after: added ? value : null,
  });
}

/** People know policies by their version: one that stays while decisions change misleads. */
function staleVersion(
  before: SnapshotDocument,
  after: SnapshotDocument,
  changes: readonly PolicyChange[],
): readonly PolicyChange[] {
  if (before.version !== after.version || before.policy_id !== after.policy_id) return [];
  if (changes.every(({ effect }) => effect === 'none')) return [];
  const stale = changeOf({
    path: 'version',
    rule_id: null,
    change: 'changed',
    effect: 'alters',
    summary: 'the version stays the same although decisions change',
    before: before.version,
    after: after.version,
  });
  return [stale];
}

function summarised(changes: readonly PolicyChange[]): PolicyDiff {
  const summary = { critical: 0, warn: 0, info: 0, loosens: 0, mixed: 0, tightens: 0 };
  for (const { severity, effect } of changes) {
    summary[severity] += 1;
    if (effect !== 'alters' && effect !== 'none') summary[effect] += 1;
  }
  return { changes, summary, same: changes.length === 0 };
}
