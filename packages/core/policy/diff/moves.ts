// Rules that stand in another order. Order matters between an allow and what it lets pass, between
// a tag and what reads it, and between refusals of different kinds.
import type { Rule } from '@subluminal/contracts';
import {
  changeOf,
  combineEffects,
  type Effect,
  type PolicyChange,
  reversed,
} from '../changes/change.ts';
import { isSame } from '../changes/relation.ts';
import { mayOverlap, type Steps } from '../match/names.ts';
import { ruleRole } from '../rules/index.ts';
import {
  flipped,
  isSteady,
  type Pairs,
  type RulePair,
  STEPS_MAX,
  type Surroundings,
  tagFirst,
} from './reach.ts';

interface PlacedRule {
  readonly pair: RulePair;
  readonly rule: Rule;
  readonly steady: boolean;
  /** The policies in which it has to be looked at: one, unless it differs between the two. */
  readonly sides: readonly (keyof RulePair)[];
  /** Places in the two policies, from 0. */
  readonly before: number;
  readonly after: number;
}

/** A rule that went to the other side of a rule, and what that does. */
interface Crossing {
  readonly partner: PlacedRule;
  readonly effect: Effect;
}

/** The moves, or one change for all of them when there is too much to compare. */
export function movesOf(pairs: Pairs, around: Surroundings): readonly PolicyChange[] {
  const steps: Steps = { left: STEPS_MAX };
  const placed = placedIn(pairs);
  const strays = outOfOrder(placed);
  if (strays.size === 0) return [];
  const crossings = new Map<PlacedRule, Crossing[]>();
  const explained = new Set<PlacedRule>();
  for (const [index, upper] of placed.entries()) {
    for (const lower of placed.slice(index + 1)) {
      if (upper.before < lower.before || !upper.steady || !lower.steady) continue;
      const effect = crossingEffect([upper, lower], around, steps);
      if (steps.left < 0) return [tooMany('moved', pairs)];
      if (effect === 'none') continue;
      for (const owner of ownersOf([upper, lower], strays)) {
        const crossed = crossings.get(owner) ?? [];
        crossed.push({ partner: owner === upper ? lower : upper, effect });
        crossings.set(owner, crossed);
      }
      explained.add(upper).add(lower);
    }
  }
  const moves = placed.flatMap((one) => {
    const crossed = crossings.get(one);
    if (crossed !== undefined) return [moveOf(one, crossed, crossingWords(one, crossed))];
    if (!strays.has(one) || explained.has(one)) return [];
    const rival = placed.find((other) => isRival(one, other, steps));
    if (rival === undefined) return [moveOf(one, [], 'stands elsewhere, which changes nothing')];
    const words = `${standing(one, rival)}: the action stays, the reason may change`;
    return [moveOf(one, [], words)];
  });
  return steps.left < 0 ? [tooMany('moved', pairs)] : moves;
}

/** What can't be compared in reasonable time may hide anything, so it is critical. */
export function tooMany(change: 'moved' | 'changed', pairs: Pairs): PolicyChange {
  return {
    path: 'rules',
    rule_id: null,
    change,
    effect: 'alters',
    severity: 'critical',
    summary: `too many rules ${change} to compare them one by one`,
    before: pairs.before.length,
    after: pairs.after.length,
  };
}

function placedIn(pairs: Pairs): readonly PlacedRule[] {
  const places = new Map(pairs.before.map((rule, place) => [rule.rule_id, place]));
  return pairs.after.flatMap((rule, after): readonly PlacedRule[] => {
    const pair = pairs.byId.get(rule.rule_id);
    if (pair === undefined) return [];
    const isEdited = !isSame({ ...pair.before }, { ...pair.after });
    const sides = isEdited ? (['before', 'after'] as const) : (['after'] as const);
    const before = places.get(rule.rule_id) ?? 0;
    return [{ pair, rule, steady: isSteady(pair), sides, before, after }];
  });
}

/**
 * The fewest rules that must have moved: all but the longest run that kept its order. Of several
 * such runs the names decide, so that the same rules are reported when the policies are swapped.
 */
function outOfOrder(placed: readonly PlacedRule[]): ReadonlySet<PlacedRule> {
  const lengths = new Map<PlacedRule, number>();
  for (const [index, one] of [...placed.entries()].toReversed()) {
    const following = placed.slice(index + 1).filter((next) => next.before > one.before);
    lengths.set(one, 1 + Math.max(0, ...following.map((next) => lengths.get(next) ?? 0)));
  }
  const byName = placed.toSorted((left, right) =>
    left.rule.rule_id < right.rule.rule_id ? -1 : 1,
  );
  const strays = new Set(placed);
  let last = { before: -1, after: -1 };
  for (let left = Math.max(0, ...lengths.values()); left > 0; left--) {
    const next = byName.find(
      (one) => lengths.get(one) === left && one.before > last.before && one.after > last.after,
    );
    if (next === undefined) throw new Error('a run of rules has a gap');
    strays.delete(next);
    last = next;
  }
  return strays;
}

type RulesCrossed = readonly [upper: PlacedRule, lower: PlacedRule];

/** What it does that one rule stands above another; the old and the new versions both count. */
function crossingEffect([upper, lower]: RulesCrossed, around: Surroundings, steps: Steps): Effect {
  return combineEffects(
    sidesOf(upper, lower).map((side): Effect => {
      const [first, second] = [upper.pair[side], lower.pair[side]];
      // Which of two questions a person is asked first.
      const bothAsk = ruleRole(first) === 'asks' && ruleRole(second) === 'asks';
      const effect = combineEffects([
        flipped(first, second, around),
        bothAsk ? 'alters' : 'none',
        tagFirst(first, second, around),
        reversed(tagFirst(second, first, around)),
      ]);
      return effect === 'none' || mayOverlap(first.match, second.match, steps) ? effect : 'none';
    }),
  );
}

function sidesOf(one: PlacedRule, other: PlacedRule): readonly (keyof RulePair)[] {
  return one.sides.length > 1 ? one.sides : other.sides;
}

/** Whether two rules changed sides that refuse the same calls alike. Questions give way to refusals. */
function isRival(one: PlacedRule, other: PlacedRule, steps: Steps): boolean {
  const crossed = one.before < other.before !== one.after < other.after;
  if (other === one || !crossed || !one.steady || !other.steady) return false;
  return sidesOf(one, other).some((side) => {
    const [left, right] = [one.pair[side], other.pair[side]];
    return refuses(left) && refuses(right) && mayOverlap(left.match, right.match, steps);
  });
}

function refuses(rule: Rule): boolean {
  return ['denies', 'counts'].includes(ruleRole(rule));
}

/** Which rule reports a crossing: the one whose meaning changed, else the one that moved. */
function ownersOf(pair: RulesCrossed, strays: ReadonlySet<PlacedRule>): readonly PlacedRule[] {
  const tags = pair.filter(({ rule }) => ruleRole(rule) === 'tags');
  if (tags.length > 0) return tags;
  const allows = pair.filter(({ rule }) => ruleRole(rule) === 'allows');
  return allows.length > 0 ? allows : pair.filter((one) => strays.has(one));
}

function moveOf(one: PlacedRule, crossings: readonly Crossing[], words: string): PolicyChange {
  const { rule, before, after } = one;
  return changeOf({
    path: `rules[${rule.rule_id}]`,
    rule_id: rule.rule_id,
    change: 'moved',
    effect: combineEffects(crossings.map(({ effect }) => effect)),
    summary: `the ${rule.kind} rule ${words}`,
    before: before + 1,
    after: after + 1,
  });
}

function crossingWords(one: PlacedRule, [first, ...others]: readonly Crossing[]): string {
  const more = others.length > 0 ? ` (${others.length} more changed sides)` : '';
  return first === undefined ? '' : standing(one, first.partner) + more;
}

function standing(one: PlacedRule, partner: PlacedRule): string {
  const side = one.after < partner.after ? 'above' : 'below';
  return `now stands ${side} \`${partner.rule.rule_id}\``;
}
