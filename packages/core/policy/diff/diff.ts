// What changed between two policies, and which way each change goes.
import type { JsonValue, Rule, SnapshotDocument } from '@subluminal/contracts';
import { changeOf, type PolicyChange, type PolicyDiff, type Reach } from '../changes/change.ts';
import { presence, valueAt } from '../changes/directions.ts';
import type { Field } from '../changes/field.ts';
import { isSame, type Value } from '../changes/relation.ts';
import type { Steps } from '../match/names.ts';
import { ruleReview } from '../rules/reviews.ts';
import { DOCUMENT_FIELDS, RULE_FIELDS } from './fields.ts';
import { movesOf, tooMany } from './moves.ts';
import { failuresReach, reachOf, type Surroundings, surroundingsOf } from './reach.ts';
import { isSteady, pairsOf, type RulePair } from './rule-pairs.ts';
import { CONTENT_FIELDS, SECTION_FIELDS, TAINT_FIELDS } from './sections.ts';

interface Subject {
  /** Where the fields stand: empty for the document, `rules[id].` for a rule. */
  readonly prefix: string;
  readonly ruleId: string | null;
  readonly reach: Reach;
  /** Whether its fields count at all; those of a rule that is not in force do not. */
  readonly inForce: boolean;
  readonly around: { readonly before: JsonValue; readonly after: JsonValue };
}

/** Comparisons of names by which rules are held against each other; some 100 ns each. */
const STEPS_MAX = 5_000_000;

/** Compares two normalised policies. Swapping them swaps what is known to loosen and to tighten. */
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
  const pairs = pairsOf(before.rules, after.rules);
  const steps: Steps = { left: STEPS_MAX };
  const around = surroundingsOf(pairs, [before, after], steps);
  const moved = movesOf(pairs, around, { left: STEPS_MAX });
  const moves = new Map(moved.map((move) => [move.rule_id, move]));
  const changes = [
    ...documentChanges(before, after, around),
    ...moved.filter(({ rule_id }) => rule_id === null),
    ...after.rules.flatMap((rule) => {
      const pair = pairs.byId.get(rule.rule_id);
      if (pair === undefined) return [wholeRule('added', rule, around)];
      const move = moves.get(rule.rule_id);
      return [...pairChanges(pair, around), ...(move === undefined ? [] : [move])];
    }),
    ...before.rules
      .filter((rule) => !pairs.byId.has(rule.rule_id))
      .map((rule) => wholeRule('removed', rule, around)),
  ];
  const doubts = steps.left < 0 ? [tooMany('changed', pairs)] : [];
  return [...changes, ...doubts, ...staleVersion(before, after, changes)];
}

function documentChanges(
  before: SnapshotDocument,
  after: SnapshotDocument,
  surroundings: Surroundings,
): readonly PolicyChange[] {
  const subject = documentSubject(before, after, surroundings);
  const both = (section: 'content' | 'taint') =>
    before[section] !== undefined && after[section] !== undefined;
  return [
    ...fieldChanges(DOCUMENT_FIELDS, subject),
    // A section that comes or goes is one change; of one that stays, each field is.
    ...fieldChanges(
      SECTION_FIELDS.filter(({ section }) => !both(section)),
      subject,
    ),
    ...(both('content') ? fieldChanges(CONTENT_FIELDS, subject) : []),
    ...(both('taint') ? fieldChanges(TAINT_FIELDS, subject) : []),
  ];
}

function documentSubject(
  before: SnapshotDocument,
  after: SnapshotDocument,
  surroundings: Surroundings,
): Subject {
  const around = { before: { ...before }, after: { ...after } };
  return { prefix: '', ruleId: null, reach: failuresReach(surroundings), inForce: true, around };
}

function pairChanges(pair: RulePair, around: Surroundings): readonly PolicyChange[] {
  const { before, after } = pair;
  return fieldChanges([...RULE_FIELDS, ...ruleReview(after.kind).fields], {
    prefix: `rules[${after.rule_id}].`,
    ruleId: after.rule_id,
    reach: reachOf(pair, around),
    inForce: isSteady(pair),
    around: { before: { ...before }, after: { ...after } },
  });
}

function fieldChanges(fields: readonly Field[], subject: Subject): readonly PolicyChange[] {
  return fields.flatMap((field) => {
    const before = valueAt(subject.around.before, field.path);
    const after = valueAt(subject.around.after, field.path);
    return isSame(before, after) ? [] : [fieldChange(field, { before, after }, subject)];
  });
}

function fieldChange(
  field: Field,
  { before, after }: { readonly before: Value; readonly after: Value },
  subject: Subject,
): PolicyChange {
  const { around } = subject;
  // Switching a rule on or off says it all; what else changed in it did not count on one side.
  const counts = subject.inForce || field.path === 'enabled';
  return changeOf({
    path: subject.prefix + field.path,
    rule_id: subject.ruleId,
    change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
    effect: counts ? field.direction({ before, after, reach: subject.reach, around }) : 'none',
    summary: `${field.words} ${verbOf(field, before, after)}`,
    before: before ?? null,
    after: after ?? null,
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

function wholeRule(
  change: 'added' | 'removed',
  rule: Rule,
  surroundings: Surroundings,
): PolicyChange {
  const added = change === 'added';
  const around = { before: null, after: null };
  const reach = reachOf(added ? { after: rule } : { before: rule }, surroundings);
  const there = { before: !added, after: added, reach, around };
  const value: JsonValue = { ...rule };
  return changeOf({
    path: `rules[${rule.rule_id}]`,
    rule_id: rule.rule_id,
    change,
    effect: rule.enabled ? presence(there) : 'none',
    summary: `the ${rule.enabled ? '' : 'disabled '}${rule.kind} rule is ${change}`,
    before: added ? null : value,
    after: added ? value : null,
  });
}

/** The version is how people tell policies apart: one that stays while decisions change misleads. */
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
  const count = (fits: (change: PolicyChange) => boolean) => changes.filter(fits).length;
  return {
    changes,
    summary: {
      critical: count(({ severity }) => severity === 'critical'),
      warn: count(({ severity }) => severity === 'warn'),
      info: count(({ severity }) => severity === 'info'),
      loosens: count(({ effect }) => effect === 'loosens'),
      mixed: count(({ effect }) => effect === 'mixed'),
      tightens: count(({ effect }) => effect === 'tightens'),
    },
    same: changes.length === 0,
  };
}
