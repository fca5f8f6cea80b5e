// What it does to the calls when a rule gets hold of more of them, among the rules around it.
import type { Match, Rule, SnapshotDocument } from '@subluminal/contracts';
import { combineEffects, type Effect, type Reach, reversed } from '../changes/change.ts';
import { isSame } from '../changes/relation.ts';
import { mayOverlap, type Steps } from '../match/names.ts';
import { ruleClasses, ruleRole } from '../rules/index.ts';
import {
  type Doings,
  effectOf,
  FAILS,
  factsOf,
  LEAVES,
  REVEALS,
  type RuleFacts,
  shiftBits,
  turnBits,
} from './facts.ts';
import { isSteady, type Pairs } from './rule-pairs.ts';

/** A rule as it stands in one or both policies; only where it is in force. */
interface Standing {
  readonly id: string;
  readonly sides: readonly Side[];
  readonly rules: readonly Rule[];
  readonly matches: readonly Match[];
  /** What it may do in either policy. */
  readonly doings: Doings;
}
interface Side {
  readonly policy: 'before' | 'after';
  readonly rule: Rule;
  readonly facts: RuleFacts;
  readonly place: number;
}

/** The rules that both policies enforce, and what else tells how strict they are. */
export interface Surroundings {
  readonly steady: readonly Standing[];
  readonly byId: ReadonlyMap<string, Standing>;
  readonly places: { readonly [P in Side['policy']]: ReadonlyMap<Rule, number> };
  readonly asking: boolean;
  readonly failsOpen: boolean;
  /** Whether so many classes are around that tags may fail for want of room. */
  readonly crowded: boolean;
  readonly steps: Steps;
  readonly known: Map<Standing, Effect>;
  readonly askers: readonly Standing[];
  readonly asked: Map<string, boolean>;
  readonly memo: { failures?: Effect };
}

type PolicyDefaults = Pick<SnapshotDocument, 'mode' | 'defaults'>;

/** A call carries at most 1,000 classes; well below that, there is room for all. */
const CLASSES_FEW = 500;

/**
 * Rules that come or go are judged among those that stay: first what goes is taken away, then what
 * stays is changed and moved, then what is new is added.
 */
export function surroundingsOf(
  pairs: Pairs,
  policies: readonly PolicyDefaults[],
  steps: Steps,
): Surroundings {
  const places = { before: placesOf(pairs.before), after: placesOf(pairs.after) };
  const asking = policies.some(({ mode }) => mode === 'control');
  const steady = [...pairs.byId.values()]
    .filter(isSteady)
    .map((pair) => standingOf(pair, { places, asking }));
  const classes = [...pairs.before, ...pairs.after].flatMap((rule) =>
    rule.enabled ? ruleClasses(rule) : [],
  );
  return {
    steady,
    byId: new Map(steady.map((one) => [one.id, one])),
    places,
    asking,
    failsOpen: policies.some(({ defaults }) => defaults.fail_open_read_tools === true),
    crowded: new Set(classes).size > CLASSES_FEW,
    steps,
    known: new Map(),
    askers: steady.filter(({ rules }) => rules.some((rule) => ruleRole(rule) === 'asks')),
    asked: new Map(),
    memo: {},
  };
}

function placesOf(rules: readonly Rule[]): ReadonlyMap<Rule, number> {
  return new Map(rules.map((rule, place) => [rule, place]));
}

function standingOf(
  versions: { readonly before?: Rule; readonly after?: Rule },
  { places, asking }: Pick<Surroundings, 'places' | 'asking'>,
): Standing {
  const sides = (['before', 'after'] as const).flatMap((policy): readonly Side[] => {
    const rule = versions[policy];
    if (rule?.enabled !== true) return [];
    return [{ policy, rule, facts: factsOf(rule, asking), place: places[policy].get(rule) ?? 0 }];
  });
  const rules = sides.map(({ rule }) => rule);
  const [one, other] = rules.map(({ match }) => match);
  const alike = one !== undefined && other !== undefined && isSame({ ...one }, { ...other });
  return {
    id: rules[0]?.rule_id ?? '',
    sides,
    rules,
    matches: alike ? [one] : rules.map(({ match }) => match),
    doings: sides.reduce((doings, { facts }) => doings | facts.all, 0),
  };
}

/** The reach of a rule, given as it stands in the policies that have it. */
export function reachOf(
  versions: { readonly before?: Rule; readonly after?: Rule },
  around: Surroundings,
): Reach {
  const one = standingOf(versions, around);
  return {
    all: () => allOf(one, around),
    applying: () => combineEffects([shifted(one, applying, around), tagsOf(one, around)]),
    evaluated: () => shifted(one, evaluated, around),
    failing: () => shifted(one, failing, around),
    tagging: (classes) => taggingOf(one, classes, around),
    otherwise: one.rules.some((rule) => ruleRole(rule) === 'tags') ? 'alters' : 'none',
  };
}

/** The reach of the policy's word on failures: more of them stop the call. */
export function failuresReach(around: Surroundings): Reach {
  const all = () => moreFailures(around);
  const otherwise = 'none';
  return { all, applying: all, evaluated: all, failing: all, tagging: all, otherwise };
}

function moreFailures(around: Surroundings): Effect {
  const { memo, steady } = around;
  const mayFail = steady.filter(({ rules }) => rules.some((rule) => rule.when !== undefined));
  memo.failures ??= combineEffects([
    'tightens',
    ...mayFail.map((one) => shifted(one, failing, around)),
  ]);
  return memo.failures;
}

function allOf(one: Standing, around: Surroundings): Effect {
  const steady = around.byId.get(one.id);
  // A steady rule is asked about again and again, by the tags it reads.
  const key = steady !== undefined && steady.sides.length === one.sides.length ? steady : one;
  const found = around.known.get(key);
  if (found !== undefined) return found;
  const effect = combineEffects([shifted(one, looking, around), tagsOf(one, around)]);
  around.known.set(key, effect);
  return effect;
}

/** How a rule's share in a call changes: from one doing to others. */
type Shift = (facts: RuleFacts) => { readonly from: Doings; readonly to: Doings };

const looking: Shift = ({ all }) => ({ from: LEAVES, to: all });
const applying: Shift = (facts) => ({ from: LEAVES, to: facts.applying });
const evaluated: Shift = (facts) => ({ from: FAILS, to: facts.applying });
const failing: Shift = () => ({ from: LEAVES, to: FAILS });

/** What a shift does to calls that meet the rule alone, and to those that meet another one too. */
function shifted(one: Standing, shift: Shift, around: Surroundings): Effect {
  const { asking } = around;
  const reveals = isAsked(one, around) ? REVEALS : 0;
  const shifts = one.sides.map(({ policy, facts, place }) => {
    const { from, to } = shift(facts);
    return { policy, place, from, to: to | reveals };
  });
  let bits = 0;
  for (const alone of shifts) {
    bits |= shiftBits({ ...alone, other: LEAVES, isAbove: true, asking });
  }
  for (const other of around.steady) {
    if (effectOf(bits) === 'mixed') break;
    if (other.id === one.id) continue;
    let more = bits;
    for (const { policy, place, from, to } of shifts) {
      const there = other.sides.find((side) => side.policy === policy);
      if (there === undefined) continue;
      // Among rules that stay, each may have been edited before or after the other.
      const doings = shifts.length === 1 ? there.facts.all : other.doings;
      more |= shiftBits({ from, to, other: doings, isAbove: place < there.place, asking });
    }
    if (more !== bits && meet(one, other, around.steps)) bits = more;
  }
  return effectOf(bits);
}

/** Whether a person may be asked about calls that the rule matches. */
function isAsked(one: Standing, around: Surroundings): boolean {
  if (!one.rules.some((rule) => ruleRole(rule) === 'allows')) return false;
  const found = around.asked.get(one.id);
  if (found !== undefined) return found;
  const asked = around.askers.some((asker) => meet(one, asker, around.steps));
  around.asked.set(one.id, asked);
  return asked;
}

/** The order of two steady rules turned round: the upper one stood below. */
export function flipped(upper: Rule, lower: Rule, around: Surroundings): Effect {
  return effectOf(turnBits(doingsIn(upper, around), doingsIn(lower, around), around.asking));
}

function doingsIn(rule: Rule, around: Surroundings): Doings {
  const { all } = factsOf(rule, around.asking);
  const standing = ruleRole(rule) === 'allows' ? around.byId.get(rule.rule_id) : undefined;
  return standing !== undefined && isAsked(standing, around) ? all | REVEALS : all;
}

function meet(one: Standing, other: Standing, steps: Steps): boolean {
  return one.matches.some((left) => other.matches.some((right) => mayOverlap(left, right, steps)));
}

/** What a rule's own tags do; nothing for rules of other kinds. */
function tagsOf(one: Standing, around: Surroundings): Effect {
  const classes = one.rules.flatMap(ruleClasses);
  return classes.length === 0 ? 'none' : taggingOf(one, classes, around);
}

function taggingOf(one: Standing, classes: readonly string[], around: Surroundings): Effect {
  const effects = new Set<Effect>();
  if (classes.length === 0) return 'none';
  if (around.crowded) effects.add('alters');
  if (around.failsOpen) {
    // Failures do not stop what only reads.
    if (classes.includes('read_like')) effects.add(reversed(moreFailures(around)));
    if (classes.includes('write_like')) effects.add(moreFailures(around));
  }
  for (const reader of around.steady) {
    if (reader.id === one.id || !standsAbove(one, reader)) continue;
    const effect = readingOf(classes, reader, around);
    if (effect === 'none' || effects.has(effect)) continue;
    if (meet(one, reader, around.steps)) effects.add(effect);
  }
  return combineEffects([...effects]);
}

function standsAbove(one: Standing, other: Standing): boolean {
  return one.sides.some(({ policy, place }) =>
    other.sides.some((side) => side.policy === policy && place < side.place),
  );
}

/** What a rule gains when calls carry more classes. */
export function readingOf(
  classes: readonly string[],
  reader: Standing,
  around: Surroundings,
): Effect {
  const { steps } = around;
  const facts = reader.sides.map((side) => side.facts);
  if (facts.some(({ whenReadsClasses }) => whenReadsClasses)) return 'alters';
  const wanted = facts.map((one) => one.classes).filter(({ size }) => size > 0);
  steps.left -= wanted.length * classes.length;
  const reads = wanted.some((those) => steps.left < 0 || classes.some((name) => those.has(name)));
  if (!reads) return 'none';
  // What comes of tags that lead to tags is not followed.
  return reader.rules.some((rule) => ruleRole(rule) === 'tags') ? 'alters' : allOf(reader, around);
}
