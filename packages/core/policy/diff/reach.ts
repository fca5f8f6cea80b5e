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

/** A rule of one or both policies. */
export interface RuleVersions {
  readonly before?: Rule;
  readonly after?: Rule;
}
/** A rule that both policies have, under the same name and of the same kind. */
export type RulePair = Required<RuleVersions>;

export interface Pairs {
  readonly before: readonly Rule[];
  readonly after: readonly Rule[];
  readonly byId: ReadonlyMap<string, RulePair>;
}

export function pairsOf(before: readonly Rule[], after: readonly Rule[]): Pairs {
  const old = new Map(before.map((rule) => [rule.rule_id, rule]));
  const byId = new Map<string, RulePair>();
  for (const rule of after) {
    const known = old.get(rule.rule_id);
    if (known?.kind === rule.kind) byId.set(rule.rule_id, { before: known, after: rule });
  }
  return { before, after, byId };
}

export function isSteady({ before, after }: RulePair): boolean {
  return before.enabled && after.enabled;
}

/** A rule where it is in force: in one policy, or in both. A steady rule has both sides. */
interface Standing {
  readonly id: string;
  readonly sides: readonly Side[];
  readonly matches: readonly Match[];
  /** What it may do in either policy. */
  readonly outcomes: readonly RuleOutcome[];
  /** Remembered, because steady rules are asked about again and again. */
  isAsked?: boolean;
  effect?: Effect;
}
interface Side {
  readonly policy: keyof RulePair;
  readonly rule: Rule;
  readonly place: number;
  /** What it may do where it matches, and the same with its failures. */
  readonly applying: readonly RuleOutcome[];
  readonly all: readonly RuleOutcome[];
  readonly classes: ReadonlySet<string>;
  /** Whether its condition may look at the classes. */
  readonly whenReadsClasses: boolean;
}

/** The rules that both policies enforce, and what else tells how strict they are. */
export interface Surroundings {
  readonly steady: ReadonlyMap<string, Standing>;
  readonly places: { readonly [P in keyof RulePair]: ReadonlyMap<Rule, number> };
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

/**
 * Rules that come or go are judged among those that stay: first what goes is taken away, then what
 * stays is changed and moved, then what is new is added.
 */
export function surroundingsOf(
  pairs: Pairs,
  policies: readonly Pick<SnapshotDocument, 'mode' | 'defaults'>[],
): Surroundings {
  const { before, after, byId } = pairs;
  const places = { before: placesOf(before), after: placesOf(after) };
  const asking = policies.some(({ mode }) => mode === 'control');
  const steady = [...byId].filter(([, pair]) => isSteady(pair));
  const enabled = [...before, ...after].filter((rule) => rule.enabled);
  return {
    steady: new Map(steady.map(([id, pair]) => [id, standingOf(pair, { places, asking })])),
    places,
    asking,
    failsOpen: policies.some(({ defaults }) => defaults.fail_open_read_tools === true),
    crowded: new Set(enabled.flatMap(ruleClasses)).size > CLASSES_FEW,
    steps: { left: STEPS_MAX },
  };
}

function placesOf(rules: readonly Rule[]): ReadonlyMap<Rule, number> {
  return new Map(rules.map((rule, place) => [rule, place]));
}

function standingOf(
  versions: RuleVersions,
  { places, asking }: Pick<Surroundings, 'places' | 'asking'>,
): Standing {
  const sides = (['before', 'after'] as const).flatMap((policy): readonly Side[] => {
    const rule = versions[policy];
    if (rule?.enabled !== true) return [];
    const applying = outcomesOf(rule, asking);
    return [
      {
        policy,
        rule,
        place: places[policy].get(rule) ?? 0,
        applying,
        all: mayFail(rule) ? [...applying, FAILS] : applying,
        classes: new Set(rule.match.risk_class),
        whenReadsClasses: rule.when?.replace(OTHER_PARTS, '').includes('call') === true,
      },
    ];
  });
  const matches = sides.map(({ rule }) => rule.match);
  return {
    id: sides[0]?.rule.rule_id ?? '',
    sides,
    matches: isSame({ ...matches[0] }, { ...matches[1] }) ? matches.slice(0, 1) : matches,
    outcomes: sides.flatMap(({ all }) => all),
  };
}

/** The reach of a rule, given as it stands in the policies that have it. */
export function reachOf(versions: RuleVersions, around: Surroundings): Reach {
  const made = standingOf(versions, around);
  const steady = around.steady.get(made.id);
  const one = steady?.sides.length === made.sides.length ? steady : made;
  return {
    more: (shift) => gainOf(one, shift, around),
    tagging: (classes) => taggingOf(one, classes, around),
    otherwise: hasRole(one, 'tags') ? 'alters' : 'none',
  };
}

/** The reach of the policy's word on failures: more of them stop the call. */
export function failuresReach(around: Surroundings): Reach {
  const more = () => moreFailures(around);
  return { more, tagging: more, otherwise: 'none' };
}

function moreFailures(around: Surroundings): Effect {
  const mayFailNow = [...around.steady.values()].filter(({ sides }) =>
    sides.some(({ rule }) => rule.when !== undefined),
  );
  around.failures ??= combineEffects([
    'tightens',
    ...mayFailNow.map((one) => shifted(one, failing, around)),
  ]);
  return around.failures;
}

/** What a shift does, with the classes that the rule adds where it applies. */
function gainOf(one: Standing, shift: Shift, around: Surroundings): Effect {
  if (shift === 'evaluated') return shifted(one, evaluated, around);
  if (shift === 'sparing') return reversed(shifted(one, failing, around));
  if (shift === 'all' && one.effect !== undefined) return one.effect;
  const classes = one.sides.flatMap(({ rule }) => ruleClasses(rule));
  const gained = shifted(one, shift === 'all' ? looking : applying, around);
  const effect = combineEffects([gained, taggingOf(one, classes, around)]);
  if (shift === 'all') one.effect = effect;
  return effect;
}

/** How a rule's share in a call changes: from one outcome to others. */
type OutcomeShift = (side: Side) => Pick<OutcomeChange, 'from' | 'to'>;

const looking: OutcomeShift = ({ all }) => ({ from: LEAVES, to: all });
const applying: OutcomeShift = (side) => ({ from: LEAVES, to: side.applying });
const evaluated: OutcomeShift = (side) => ({ from: FAILS, to: side.applying });
const failing: OutcomeShift = () => ({ from: LEAVES, to: [FAILS] });

/** What a shift does to calls that meet the rule alone, and to those that meet another one too. */
function shifted(one: Standing, shift: OutcomeShift, around: Surroundings): Effect {
  const { asking } = around;
  const reveals = isAsked(one, around) ? [REVEALS] : [];
  const shifts = one.sides.map((side) => {
    const { from, to } = shift(side);
    return { side, from, to: [...to, ...reveals], asking };
  });
  let bits = 0;
  for (const alone of shifts) {
    bits |= directionBits({ ...alone, others: [LEAVES], wasAbove: true, isAbove: true });
  }
  for (const other of around.steady.values()) {
    if (effectOfBits(bits) === 'mixed') break;
    if (other.id === one.id) continue;
    let more = bits;
    for (const { side, ...change } of shifts) {
      const there = other.sides.find(({ policy }) => policy === side.policy);
      if (there === undefined) continue;
      // Among rules that stay, each may have been edited before or after the other.
      const others = shifts.length === 1 ? there.all : other.outcomes;
      const isAbove = side.place < there.place;
      more |= directionBits({ ...change, others, wasAbove: isAbove, isAbove });
    }
    if (more !== bits && meet(one, other, around.steps)) bits = more;
  }
  return effectOfBits(bits);
}

/** Whether a person may be asked about calls that the rule allows. */
function isAsked(one: Standing, { steady, steps }: Surroundings): boolean {
  one.isAsked ??=
    hasRole(one, 'allows') &&
    [...steady.values()].some((asker) => hasRole(asker, 'asks') && meet(one, asker, steps));
  return one.isAsked;
}

function hasRole({ sides }: Standing, role: ReturnType<typeof ruleRole>): boolean {
  return sides.some(({ rule }) => ruleRole(rule) === role);
}

/** The order of two steady rules turned round: the upper one stood below. */
export function flipped(upper: Rule, lower: Rule, around: Surroundings): Effect {
  const { asking } = around;
  const others = outcomesIn(lower, around);
  let bits = 0;
  for (const from of outcomesIn(upper, around)) {
    bits |= directionBits({ from, to: [from], others, wasAbove: false, isAbove: true, asking });
  }
  return effectOfBits(bits);
}

function outcomesIn(rule: Rule, around: Surroundings): readonly RuleOutcome[] {
  const standing = around.steady.get(rule.rule_id);
  const all = standing?.sides.find((side) => side.rule === rule)?.all ?? [];
  return standing !== undefined && isAsked(standing, around) ? [...all, REVEALS] : all;
}

function meet(one: Standing, other: Standing, steps: Steps): boolean {
  return one.matches.some((left) => other.matches.some((right) => mayOverlap(left, right, steps)));
}

/** What it does that calls which the rule matches carry more classes. */
function taggingOf(one: Standing, classes: readonly string[], around: Surroundings): Effect {
  if (classes.length === 0) return 'none';
  const effects = new Set<Effect>();
  if (around.crowded) effects.add('alters');
  if (around.failsOpen) {
    // Failures do not stop what only reads.
    if (classes.includes('read_like')) effects.add(reversed(moreFailures(around)));
    if (classes.includes('write_like')) effects.add(moreFailures(around));
  }
  for (const reader of around.steady.values()) {
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

/** What a rule gains when a tag comes before it: more calls carry the class it looks for. */
export function tagFirst(tag: Rule, reader: Rule, around: Surroundings): Effect {
  const reading = around.steady.get(reader.rule_id);
  const classes = ruleClasses(tag);
  if (classes.length === 0 || reading === undefined) return 'none';
  return readingOf(classes, reading, around);
}

function readingOf(classes: readonly string[], reader: Standing, around: Surroundings): Effect {
  const { sides } = reader;
  if (sides.some(({ whenReadsClasses }) => whenReadsClasses)) return 'alters';
  const wanted = sides.map((side) => side.classes).filter(({ size }) => size > 0);
  around.steps.left -= wanted.length * classes.length;
  const isOver = around.steps.left < 0;
  const reads = wanted.some((those) => isOver || classes.some((name) => those.has(name)));
  if (!reads) return 'none';
  // What comes of tags that lead to tags is not followed.
  return hasRole(reader, 'tags') ? 'alters' : gainOf(reader, 'all', around);
}
