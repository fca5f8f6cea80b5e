// The rules of two policies side by side, and what a rule does among the others.
import type { Rule, RuleKind } from '@subluminal/contracts';
import type { Polarity } from './directions.ts';
import { mayOverlap } from './names.ts';

/** A rule that both policies have, under the same name and of the same kind. */
interface RulePair {
  readonly before: Rule;
  readonly after: Rule;
}

interface Pairs {
  readonly before: readonly Rule[];
  readonly after: readonly Rule[];
  readonly byId: ReadonlyMap<string, RulePair>;
}

function pairsOf(before: readonly Rule[], after: readonly Rule[]): Pairs {
  const old = new Map(before.map((rule) => [rule.rule_id, rule]));
  const byId = new Map<string, RulePair>();
  for (const rule of after) {
    const known = old.get(rule.rule_id);
    if (known?.kind === rule.kind) byId.set(rule.rule_id, { before: known, after: rule });
  }
  return { before, after, byId };
}

function restricts(kind: RuleKind): boolean {
  return kind !== 'allow' && kind !== 'tag';
}

function isSteady(pair: RulePair | undefined): pair is RulePair {
  return pair?.before.enabled === true && pair.after.enabled;
}

/** What the rule does to the calls it matches, in either policy. */
function polarityOf(rule: Rule, pairs: Pairs): Polarity {
  if (restricts(rule.kind)) return 'restricts';
  if (rule.kind === 'tag') return 'tags';
  const shields = shieldsIn(pairs.before, rule, pairs) || shieldsIn(pairs.after, rule, pairs);
  return shields ? 'allows' : 'idle';
}

/**
 * Whether an allow rule keeps calls from a rule below it that both policies enforce. One that only
 * shields from a rule that comes or goes with it lets nothing pass that was stopped.
 */
function shieldsIn(rules: readonly Rule[], allow: Rule, pairs: Pairs): boolean {
  const at = rules.findIndex(({ rule_id }) => rule_id === allow.rule_id);
  const own = rules[at];
  if (own === undefined || own.kind !== 'allow' || !own.enabled) return false;
  return rules
    .slice(at + 1)
    .some(
      (rule) =>
        restricts(rule.kind) &&
        isSteady(pairs.byId.get(rule.rule_id)) &&
        mayOverlap(own.match, rule.match),
    );
}

export type { Pairs, RulePair };
export { isSteady, pairsOf, polarityOf, restricts };
