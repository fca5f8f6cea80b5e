// What it does to the calls when a rule takes hold of more of them, among the rules around it.
import type { Match, Rule, SnapshotDocument } from '@subluminal/contracts';
import {
  combineEffects,
  type Effect,
  type Reach,
  reversed,
  type Shift,
} from '../changes/change.ts';
import { isSame } from '../changes/relation.ts';
import { mayOverlap, type Steps } from '../match/names.ts';
import { ruleClasses, ruleRole } from '../rules/index.ts';
import {
  directionBits,
  effectOfBits,
  FAILS,
  LEAVES,
  mayFail,
  type OutcomeChange,
  outcomesOf,
  REVEALS,
  type RuleOutcome,
} from './rule-outcomes.ts';

/** A rule as one of the policies has it. */
export interface RuleVersion {
  readonly policy: 'before' | 'after';
  readonly rule: Rule;
  /** Its place in the policy, from 0. */
  readonly place: number;
  /** What it may do where it matches, and the same with its failures. */
  readonly applying: readonly RuleOutcome[];
  readonly all: readonly RuleOutcome[];
  readonly classes: ReadonlySet<string>;
  /** Whether its condition may look at the classes. */
  readonly whenReadsClasses: boolean;
}

/** A rule of one policy, or of both: under the same name, and of the same kind. */
export interface ComparedRule {
  readonly id: string;
  readonly before: RuleVersion | undefined;
  readonly after: RuleVersion | undefined;
  /** The versions that are in force, and how they match. */
  readonly inForce: readonly RuleVersion[];
  readonly matches: readonly Match[];
  /** What it may do in either policy. */
  readonly outcomes: readonly RuleOutcome[];
  /** Whether both policies enforce it. */
  readonly steady: boolean;
  /** Remembered, because steady rules are asked about again and again. */
  isAsked?: boolean;
  effect?: Effect;
}

/** The rules of two policies, and the settings that decide how strict they are. */
export interface Comparison {
  /** In the order of the new policy; those that it has no more come last. */
  readonly rules: readonly ComparedRule[];
  readonly steady: readonly ComparedRule[];
  readonly asking: boolean;
  readonly failsOpen: boolean;
  /** Whether so many classes are around that a call may have no room for another one. */
  readonly crowded: boolean;
  readonly steps: Steps;
  failures?: Effect;
}

/** Comparisons of names by which rules are held against each other; some 100 ns each. */
export const STEPS_MAX = 5_000_000;
/** A call carries at most 1,000 classes; well below that, there is room for all. */
const CLASSES_FEW = 500;
/** What a condition reads of the call without reading its classes. */
const OTHER_PARTS = /\bcall\s*\.\s*(?:server_name|tool_name|args_hash|bytes_in)\b/g;

type PolicyPart = Pick<SnapshotDocument, 'mode' | 'defaults' | 'rules'>;

/**
 * Rules that come or go are judged among those that stay: first the old rules go, then those that
 * stay change and move, then the new rules come.
 */
export function comparisonOf(before: PolicyPart, after: PolicyPart): Comparison {
  const policies = [before, after];
  const asking = policies.some(({ mode }) => mode === 'control');
  const old = new Map(
    before.rules.map((rule, place) => [rule.rule_id, versionOf('before', { rule, place, asking })]),
  );
  const kept = after.rules.map((rule, place) => {
    const earlier = old.get(rule.rule_id);
    const isKept = earlier?.rule.kind === rule.kind;
    if (isKept) old.delete(rule.rule_id);
    return comparedRule(isKept ? earlier : undefined, versionOf('after', { rule, place, asking }));
  });
  const rules = [...kept, ...[...old.values()].map((version) => comparedRule(version, undefined))];
  const classes = rules.flatMap(({ inForce }) => inForce.flatMap(({ rule }) => ruleClasses(rule)));
  return {
    rules,
    steady: rules.filter(({ steady }) => steady),
    asking,
    failsOpen: policies.some(({ defaults }) => defaults.fail_open_read_tools === true),
    crowded: new Set(classes).size > CLASSES_FEW,
    steps: { left: STEPS_MAX },
  };
}

function versionOf(
  policy: RuleVersion['policy'],
  {
    rule,
    place,
    asking,
  }: { readonly rule: Rule; readonly place: number; readonly asking: boolean },
): RuleVersion {
  const applying = outcomesOf(rule, asking);
  return {
    policy,
    rule,
    place,
    applying,
    all: mayFail(rule) ? [...applying, FAILS] : applying,
    classes: new Set(rule.match.risk_class),
    whenReadsClasses: rule.when?.replace(OTHER_PARTS, '').includes('call') === true,
  };
}

function comparedRule(
  before: RuleVersion | undefined,
  after: RuleVersion | undefined,
): ComparedRule {
  const versions = [before, after].filter((version) => version !== undefined);
  const inForce = versions.filter(({ rule }) => rule.enabled);
  const matches = inForce.map(({ rule }) => rule.match);
  return {
    id: versions[0]?.rule.rule_id ?? '',
    before,
    after,
    inForce,
    matches: isSame({ ...matches[0] }, { ...matches[1] }) ? matches.slice(0, 1) : matches,
    outcomes: [...new Set(inForce.flatMap(({ all }) => all))],
    steady: inForce.length === 2,
  };
}

export function reachOf(one: ComparedRule, among: Comparison): Reach {
  return {
    more: (shift) => gainOf(one, shift, among),
    tagging: (classes) => taggingOf(one, classes, among),
    otherwise: hasRole(one, 'tags') ? 'alters' : 'none',
  };
}

/** The reach of the defaults on failures: more of them stop the call. */
export function failuresReach(among: Comparison): Reach {
  const more = () => moreFailures(among);
  return { more, tagging: more, otherwise: 'none' };
}

function moreFailures(among: Comparison): Effect {
  const conditional = among.steady.filter(({ inForce }) =>
    inForce.some(({ rule }) => rule.when !== undefined),
  );
  among.failures ??= combineEffects([
    'tightens',
    ...conditional.map((one) => shifted(one, failing, among)),
  ]);
  return among.failures;
}

/** What a shift does, with the classes that the rule adds where it applies. */
function gainOf(one: ComparedRule, shift: Shift, among: Comparison): Effect {
  if (shift === 'evaluated') return shifted(one, evaluated, among);
  if (shift === 'sparing') return reversed(shifted(one, failing, among));
  if (shift === 'all' && one.effect !== undefined) return one.effect;
  const classes = one.inForce.flatMap(({ rule }) => ruleClasses(rule));
  const gained = shifted(one, shift === 'all' ? looking : applying, among);
  const effect = combineEffects([gained, taggingOf(one, classes, among)]);
  if (shift === 'all') one.effect = effect;
  return effect;
}

/** How a rule's share in a call changes: from one outcome to others. */
type OutcomeShift = (version: RuleVersion) => Pick<OutcomeChange, 'from' | 'to'>;

const looking: OutcomeShift = ({ all }) => ({ from: LEAVES, to: all });
const applying: OutcomeShift = (version) => ({ from: LEAVES, to: version.applying });
const evaluated: OutcomeShift = (version) => ({ from: FAILS, to: version.applying });
const failing: OutcomeShift = () => ({ from: LEAVES, to: [FAILS] });

/** What a shift does to calls that meet the rule alone, and to those that meet another one too. */
function shifted(one: ComparedRule, shift: OutcomeShift, among: Comparison): Effect {
  const { asking } = among;
  const shifts = one.inForce.map((version) => {
    const { from, to } = shift(version);
    return { version, from, to: revealing(to, one, among) };
  });
  let bits = 0;
  for (const { from, to } of shifts) {
    bits |= directionBits({ from, to, others: [LEAVES], wasAbove: true, isAbove: true, asking });
  }
  for (const other of among.steady) {
    if (effectOfBits(bits) === 'mixed') break;
    if (other === one) continue;
    let more = bits;
    for (const { version, from, to } of shifts) {
      const there = other[version.policy];
      if (there === undefined) continue;
      // Among rules that stay, each may have been edited before or after the other.
      const others = shifts.length === 1 ? there.all : other.outcomes;
      const isAbove = version.place < there.place;
      more |= directionBits({ from, to, others, wasAbove: isAbove, isAbove, asking });
    }
    if (more !== bits && meet(one, other, among.steps)) bits = more;
  }
  return effectOfBits(bits);
}

/** An allow also reveals the questions that a person may be asked about the calls it matches. */
function revealing(
  outcomes: readonly RuleOutcome[],
  one: ComparedRule,
  { steady, steps }: Comparison,
): readonly RuleOutcome[] {
  one.isAsked ??=
    hasRole(one, 'allows') &&
    steady.some((asker) => hasRole(asker, 'asks') && meet(one, asker, steps));
  return one.isAsked ? [...outcomes, REVEALS] : outcomes;
}

function hasRole({ inForce }: ComparedRule, role: ReturnType<typeof ruleRole>): boolean {
  return inForce.some(({ rule }) => ruleRole(rule) === role);
}

function meet(one: ComparedRule, other: ComparedRule, steps: Steps): boolean {
  return one.matches.some((left) => other.matches.some((right) => mayOverlap(left, right, steps)));
}

/** What it does that one steady rule stands above another in a policy, where it stood below. */
export function turned(
  [upper, lower]: readonly [ComparedRule, ComparedRule],
  policy: RuleVersion['policy'],
  among: Comparison,
): Effect {
  const [first, second] = [upper[policy], lower[policy]];
  if (first === undefined || second === undefined) return 'none';
  const { asking } = among;
  const others = revealing(second.all, lower, among);
  let bits = 0;
  for (const from of revealing(first.all, upper, among)) {
    bits |= directionBits({ from, to: [from], others, wasAbove: false, isAbove: true, asking });
  }
  return combineEffects([
    effectOfBits(bits),
    readingOf(ruleClasses(first.rule), lower, among),
    reversed(readingOf(ruleClasses(second.rule), upper, among)),
  ]);
}

/** What it does that calls which the rule matches carry more classes. */
function taggingOf(one: ComparedRule, classes: readonly string[], among: Comparison): Effect {
  if (classes.length === 0) return 'none';
  const effects = new Set<Effect>();
  if (among.crowded) effects.add('alters');
  if (among.failsOpen) {
    // Failures do not stop what only reads.
    if (classes.includes('read_like')) effects.add(reversed(moreFailures(among)));
    if (classes.includes('write_like')) effects.add(moreFailures(among));
  }
  for (const reader of among.steady) {
    const isAbove = one.inForce.some(
      ({ policy, place }) => place < (reader[policy]?.place ?? Number.NEGATIVE_INFINITY),
    );
    if (reader === one || !isAbove) continue;
    const effect = readingOf(classes, reader, among);
    if (effect === 'none' || effects.has(effect)) continue;
    if (meet(one, reader, among.steps)) effects.add(effect);
  }
  return combineEffects([...effects]);
}

/** What a steady rule gains when calls carry more classes. */
function readingOf(classes: readonly string[], reader: ComparedRule, among: Comparison): Effect {
  if (classes.length === 0) return 'none';
  if (reader.inForce.some(({ whenReadsClasses }) => whenReadsClasses)) return 'alters';
  const wanted = reader.inForce.map((version) => version.classes).filter(({ size }) => size > 0);
  among.steps.left -= wanted.length * classes.length;
  const isOver = among.steps.left < 0;
  const reads = wanted.some((those) => isOver || classes.some((name) => those.has(name)));
  if (!reads) return 'none';
  // What comes of tags that lead to tags is not followed.
  return hasRole(reader, 'tags') ? 'alters' : gainOf(reader, 'all', among);
}
