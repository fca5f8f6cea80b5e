// Rules that stand in another order. Order matters between an allow and what it lets pass, between
// a tag and what reads it, and between refusals of different kinds.
import { changeOf, combineEffects, type Effect, type PolicyChange } from '../changes/change.ts';
import { isSame } from '../changes/relation.ts';
import { mayOverlap, type Steps } from '../match/names.ts';
import { ruleRole } from '../rules/index.ts';
import {
  type ComparedRule,
  type Comparison,
  type RuleVersion,
  STEPS_MAX,
  turned,
} from './reach.ts';

/** A rule that both policies have. */
interface KeptRule {
  readonly compared: ComparedRule;
  readonly id: string;
  readonly role: ReturnType<typeof ruleRole>;
  /** Its versions: the new one is enough, unless the rule differs between the two. */
  readonly versions: readonly RuleVersion[];
  /** Its places in the two policies, from 0. */
  readonly before: number;
  readonly after: number;
}
type RulesCrossed = readonly [upper: KeptRule, lower: KeptRule];

/** A rule that went to the other side of a rule, and what that does. */
interface Crossing {
  readonly partner: KeptRule;
  readonly effect: Effect;
}

/** The moves, or one change for all of them when there is too much to compare. */
export function movesOf(among: Comparison): readonly PolicyChange[] {
  const steps: Steps = { left: STEPS_MAX };
  const kept = among.rules.flatMap(keptRule);
  const strays = outOfOrder(kept);
  if (strays.size === 0) return [];
  const crossings = new Map<KeptRule, Crossing[]>();
  const explained = new Set<KeptRule>();
  for (const [index, upper] of kept.entries()) {
    for (const lower of kept.slice(index + 1)) {
      if (upper.before < lower.before || !upper.compared.steady || !lower.compared.steady) continue;
      const effect = crossingEffect([upper, lower], among, steps);
      if (steps.left < 0) return [tooMany('moved', among)];
      if (effect === 'none') continue;
      for (const owner of ownersOf([upper, lower], strays)) {
        const crossed = crossings.get(owner) ?? [];
        crossed.push({ partner: owner === upper ? lower : upper, effect });
        crossings.set(owner, crossed);
      }
      explained.add(upper).add(lower);
    }
  }
  const moves = kept.flatMap((one) => {
    const crossed = crossings.get(one);
    if (crossed !== undefined) return [moveOf(one, crossed, crossingWords(one, crossed))];
    if (!strays.has(one) || explained.has(one)) return [];
    const rival = kept.find((other) => isRival(one, other, steps));
    if (rival === undefined) return [moveOf(one, [], 'stands elsewhere, which changes nothing')];
    const words = `${standing(one, rival)}: the action stays, the reason may change`;
    return [moveOf(one, [], words)];
  });
  return steps.left < 0 ? [tooMany('moved', among)] : moves;
}

/** What can't be compared in reasonable time may hide anything, so it is critical. */
export function tooMany(change: 'moved' | 'changed', { rules }: Comparison): PolicyChange {
  return {
    path: 'rules',
    rule_id: null,
    change,
    effect: 'alters',
    severity: 'critical',
    summary: `too many rules ${change} to compare them one by one`,
    before: rules.filter(({ before }) => before !== undefined).length,
    after: rules.filter(({ after }) => after !== undefined).length,
  };
}

function keptRule(compared: ComparedRule): readonly KeptRule[] {
  const { id, before, after } = compared;
  if (before === undefined || after === undefined) return [];
  const isEdited = !isSame({ ...before.rule }, { ...after.rule });
  const versions = isEdited ? [before, after] : [after];
  const role = ruleRole(after.rule);
  return [{ compared, id, role, versions, before: before.place, after: after.place }];
}

/**
 * The fewest rules that must have moved: all but the longest run that kept its order. Of several
 * such runs the names decide, so that the same rules are reported when the policies are swapped.
 */
function outOfOrder(kept: readonly KeptRule[]): ReadonlySet<KeptRule> {
  const lengths = new Map<KeptRule, number>();
  for (const [index, one] of [...kept.entries()].toReversed()) {
    const following = kept.slice(index + 1).filter((next) => next.before > one.before);
    lengths.set(one, 1 + Math.max(0, ...following.map((next) => lengths.get(next) ?? 0)));
  }
  const byName = kept.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const strays = new Set(kept);
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

/** What it does that one rule stands above another; the old and the new versions both count. */
function crossingEffect([upper, lower]: RulesCrossed, among: Comparison, steps: Steps): Effect {
  // Which of two questions a person is asked first.
  const bothAsk = upper.role === 'asks' && lower.role === 'asks';
  const effects = versionsOf(upper, lower).map(([first, second]): Effect => {
    const effect = turned([upper.compared, lower.compared], first.policy, among);
    const whole = combineEffects([effect, bothAsk ? 'alters' : 'none']);
    const { match } = first.rule;
    return whole === 'none' || mayOverlap(match, second.rule.match, steps) ? whole : 'none';
  });
  return combineEffects(effects);
}

/** The versions of two rules that met: in the new policy, and in the old one if either differs there. */
function versionsOf(one: KeptRule, other: KeptRule) {
  const edited = one.versions.length > 1 ? one : other;
  return edited.versions.flatMap(({ policy }) => {
    const [left, right] = [one.compared[policy], other.compared[policy]];
    return left === undefined || right === undefined ? [] : [[left, right] as const];
  });
}

/** Whether two rules changed sides that refuse the same calls alike. Questions give way to refusals. */
function isRival(one: KeptRule, other: KeptRule, steps: Steps): boolean {
  const crossed = one.before < other.before !== one.after < other.after;
  if (other === one || !crossed || !one.compared.steady || !other.compared.steady) return false;
  const refuse = [one, other].every(({ role }) => role === 'denies' || role === 'counts');
  return (
    refuse &&
    versionsOf(one, other).some(([left, right]) =>
      mayOverlap(left.rule.match, right.rule.match, steps),
    )
  );
}

/** Which rule reports a crossing: the one whose meaning changed, else the one that moved. */
function ownersOf(pair: RulesCrossed, strays: ReadonlySet<KeptRule>): readonly KeptRule[] {
  const tags = pair.filter(({ role }) => role === 'tags');
  if (tags.length > 0) return tags;
  const allows = pair.filter(({ role }) => role === 'allows');
  return allows.length > 0 ? allows : pair.filter((one) => strays.has(one));
}

function moveOf(one: KeptRule, crossings: readonly Crossing[], words: string): PolicyChange {
  const { id, before, after } = one;
  return changeOf({
    path: `rules[${id}]`,
    rule_id: id,
    change: 'moved',
    effect: combineEffects(crossings.map(({ effect }) => effect)),
    summary: `the ${one.versions[0]?.rule.kind} rule ${words}`,
    before: before + 1,
    after: after + 1,
  });
}

function crossingWords(one: KeptRule, [first, ...others]: readonly Crossing[]): string {
  const more = others.length > 0 ? ` (${others.length} more changed sides)` : '';
  return first === undefined ? '' : standing(one, first.partner) + more;
}

function standing(one: KeptRule, partner: KeptRule): string {
  const side = one.after < partner.after ? 'above' : 'below';
  return `now stands ${side} \`${partner.id}\``;
}
