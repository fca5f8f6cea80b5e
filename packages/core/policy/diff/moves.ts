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
import { ruleClasses, ruleRole } from '../rules/index.ts';
import { flipped, readingOf, type Surroundings } from './reach.ts';
import { isSteady, type Pairs, type RulePair } from './rule-pairs.ts';

interface PlacedRule {
  readonly pair: RulePair;
  readonly rule: Rule;
  readonly steady: boolean;
  /** Whether it differs between the two. */
  readonly edited: boolean;
  /** Places in the two policies, from 0. */
  readonly before: number;
  readonly after: number;
}

/** Two rules that changed sides, and what that does. */
interface Flip {
  readonly upper: PlacedRule;
  readonly lower: PlacedRule;
  readonly effect: Effect;
}

const BOTH = ['before', 'after'] as const;
/** Rules that are the same in both policies need to be looked at once. */
const LATER = ['after'] as const;

/** What the flips of one rule come to. */
interface Flips {
  readonly first: Flip;
  readonly effects: Set<Effect>;
  count: number;
}

/** The moves, or one change for all of them when there is too much to compare. */
export function movesOf(pairs: Pairs, around: Surroundings, steps: Steps): readonly PolicyChange[] {
  const placed = placedIn(pairs);
  const strays = outOfOrder(placed);
  if (strays.size === 0) return [];
  const owned = new Map<PlacedRule, Flips>();
  const explained = new Set<PlacedRule>();
  for (const flip of flipsOf(placed, around, steps)) {
    for (const owner of ownersOf(flip, strays)) {
      const flips = owned.get(owner);
      if (flips === undefined) {
        owned.set(owner, { first: flip, effects: new Set([flip.effect]), count: 1 });
      } else {
        flips.count += 1;
        flips.effects.add(flip.effect);
      }
    }
    explained.add(flip.upper).add(flip.lower);
  }
  const moves = placed
    .filter((one) => owned.has(one) || (strays.has(one) && !explained.has(one)))
    .map((one) => {
      const flips = owned.get(one);
      return moveOf(one, flips ?? rivalOf(one, placed, steps));
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
  return pairs.after.flatMap((rule, after) => {
    const pair = pairs.byId.get(rule.rule_id);
    const before = places.get(rule.rule_id);
    if (pair === undefined || before === undefined) return [];
    const edited = !isSame({ ...pair.before }, { ...pair.after });
    return [{ pair, rule, steady: isSteady(pair), edited, before, after }];
  });
}

/**
 * The fewest rules that must have moved: all but the longest run that kept its order. Of several
 * such runs the names decide, so that the same rules are told of when the policies are swapped.
 */
function outOfOrder(placed: readonly PlacedRule[]): ReadonlySet<PlacedRule> {
  const lengths = new Map<PlacedRule, number>();
  for (const [index, one] of [...placed.entries()].toReversed()) {
    let length = 1;
    for (let at = index + 1; at < placed.length; at++) {
      const next = placed[at];
      if (next === undefined || next.before < one.before) continue;
      length = Math.max(length, 1 + (lengths.get(next) ?? 0));
    }
    lengths.set(one, length);
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

/** The pairs that changed sides where that matters; it ends early when the steps run out. */
function* flipsOf(
  placed: readonly PlacedRule[],
  around: Surroundings,
  steps: Steps,
): Generator<Flip, void> {
  for (const [index, upper] of placed.entries()) {
    for (let at = index + 1; at < placed.length; at++) {
      const lower = placed[at];
      if (lower === undefined || upper.before < lower.before) continue;
      if (!upper.steady || !lower.steady) continue;
      const effect = flipEffect({ upper, lower }, around, steps);
      if (steps.left < 0) return;
      if (effect !== 'none') yield { upper, lower, effect };
    }
  }
}

/** Both the old and the new rules may meet: what either would notice counts. */
function flipEffect(
  { upper, lower }: Omit<Flip, 'effect'>,
  around: Surroundings,
  steps: Steps,
): Effect {
  const sides = sidesOf(upper, lower).map((side): Effect => {
    const [first, second] = [upper.pair[side], lower.pair[side]];
    const effect = effectIfBothMatch(first, second, around);
    return effect === 'none' || mayOverlap(first.match, second.match, steps) ? effect : 'none';
  });
  return combineEffects(sides);
}

function sidesOf(one: PlacedRule, other: PlacedRule): readonly (keyof RulePair)[] {
  return one.edited || other.edited ? BOTH : LATER;
}

/** What it does that `upper` stands above `lower`, where it stood below. */
function effectIfBothMatch(upper: Rule, lower: Rule, around: Surroundings): Effect {
  // Which of two questions a person is asked first.
  const bothAsk = ruleRole(upper) === 'asks' && ruleRole(lower) === 'asks';
  return combineEffects([
    flipped(upper, lower, around),
    bothAsk ? 'alters' : 'none',
    tagFirst(upper, lower, around),
    reversed(tagFirst(lower, upper, around)),
  ]);
}

/** What a rule gains when a tag comes before it: more calls carry the class it looks for. */
function tagFirst(tag: Rule, reader: Rule, around: Surroundings): Effect {
  const reading = around.byId.get(reader.rule_id);
  const classes = ruleClasses(tag);
  if (classes.length === 0 || reading === undefined) return 'none';
  return readingOf(classes, reading, around);
}

/** A rule that went to the other side of this one, where both refuse the same call alike. */
function rivalOf(
  one: PlacedRule,
  placed: readonly PlacedRule[],
  steps: Steps,
): PlacedRule | undefined {
  return placed.find((other) => {
    const crossed = one.before < other.before !== one.after < other.after;
    if (other === one || !crossed || !one.steady || !other.steady) return false;
    return sidesOf(one, other).some((side) => isRival(one.pair[side], other.pair[side], steps));
  });
}

/** Who asks a person gives way to whoever refuses, wherever it stands. */
function isRival(left: Rule, right: Rule, steps: Steps): boolean {
  return refuses(left) && refuses(right) && mayOverlap(left.match, right.match, steps);
}

function refuses(rule: Rule): boolean {
  return ['denies', 'counts'].includes(ruleRole(rule));
}

/** Which rule a flip is told of: the one whose meaning changed, else the one that moved. */
function ownersOf({ upper, lower }: Flip, strays: ReadonlySet<PlacedRule>): readonly PlacedRule[] {
  const pair = [upper, lower];
  const tags = pair.filter(({ rule }) => ruleRole(rule) === 'tags');
  if (tags.length > 0) return tags;
  const allows = pair.filter(({ rule }) => ruleRole(rule) === 'allows');
  return allows.length > 0 ? allows : pair.filter((one) => strays.has(one));
}

function moveOf(one: PlacedRule, crossed: Flips | PlacedRule | undefined): PolicyChange {
  const { rule, before, after } = one;
  const flips = crossed !== undefined && 'effects' in crossed ? [...crossed.effects] : [];
  return changeOf({
    path: `rules[${rule.rule_id}]`,
    rule_id: rule.rule_id,
    change: 'moved',
    effect: combineEffects(flips),
    summary: `the ${rule.kind} rule ${partnersOf(one, crossed)}`,
    before: before + 1,
    after: after + 1,
  });
}

function partnersOf(one: PlacedRule, crossed: Flips | PlacedRule | undefined): string {
  if (crossed === undefined) return 'stands elsewhere, which changes nothing';
  if (!('effects' in crossed)) {
    return `${standing(one, crossed)}: the action stays, the reason may change`;
  }
  const { first, count } = crossed;
  const partner = first.upper === one ? first.lower : first.upper;
  const more = count > 1 ? ` (${count - 1} more changed sides)` : '';
  return `${standing(one, partner)}${more}`;
}

function standing(one: PlacedRule, partner: PlacedRule): string {
  const side = one.after < partner.after ? 'above' : 'below';
  return `now stands ${side} \`${partner.rule.rule_id}\``;
}
