// Advice on the order of rules: they are tried from top to bottom, and the first that decides wins.

import { quote } from '../../text/visible.ts';
import { covers, type RuleScope, scopeOf } from '../match/cover.ts';
import { type Advice, warning } from '../model/advice.ts';
import { ruleClasses, ruleKind, ruleRole } from '../rules/index.ts';
import type { PlacedRule, Subject } from './lint-subject.ts';

/** An allow or deny above that takes in every call which a rule is meant for. */
export function coveredRules({ enabled }: Subject): readonly Advice[] {
  const deciding: (PlacedRule & { readonly scope: RuleScope })[] = [];
  /** For each class, the last rule so far that tags it. */
  const lastTagged = new Map<string, number>();
  const found: Advice[] = [];
  for (const lower of enabled) {
    for (const name of ruleClasses(lower.rule)) lastTagged.set(name, lower.index);
    const role = ruleRole(lower.rule);
    if (role === 'tags') continue;
    const scope = scopeOf(lower.rule);
    const upper = deciding.find(({ scope: above, index }) =>
      covers(above, scope, (name) => (lastTagged.get(name) ?? -1) > index),
    );
    if (upper !== undefined) found.push(adviceOn(upper, lower));
    if (role === 'allows' || role === 'denies') deciding.push({ ...lower, scope });
  }
  return found;
}

function adviceOn(upper: PlacedRule, lower: PlacedRule): Advice {
  const path = ['rules', lower.index];
  const [above, below] = [quote(upper.rule.rule_id), quote(lower.rule.rule_id)];
  const role = ruleRole(lower.rule);
  if (ruleRole(upper.rule) === 'allows' && role !== 'allows' && role !== 'denies') {
    const effect = countsAll(lower.rule) ? 'it counts, but never limits' : 'it never has a say';
    return warning('SUB_LINT_EXEMPTED', path, [
      `${below} stands below ${above}, which allows all its calls: ${effect}`,
      `Move it above ${above}.`,
    ]);
  }
  return warning('SUB_LINT_UNREACHABLE', path, [
    `${below} can never decide: ${above} above it matches every call that it matches`,
    `Move it above ${above}, or remove it.`,
  ]);
}

/** Whether a rule counts every call that it matches, not only those that pass. */
function countsAll({ kind }: PlacedRule['rule']): boolean {
  const known = ruleKind(kind);
  return known.role === 'counts' && known.passed === undefined;
}

/** Classes that a rule needs, but that no rule above it adds. */
export function missingTags({ enabled }: Subject): readonly Advice[] {
  const everTagged = new Set(enabled.flatMap(({ rule }) => ruleClasses(rule)));
  const taggedAbove = new Set<string>();
  const found: Advice[] = [];
  for (const { rule, index } of enabled) {
    for (const [position, name] of (rule.match.risk_class ?? []).entries()) {
      if (taggedAbove.has(name)) continue;
      const path = ['rules', index, 'match', 'risk_class', position];
      found.push(
        everTagged.has(name)
          ? warning('SUB_LINT_TAG_ORDER', path, [
              `calls are tagged as ${quote(name)} only further down`,
              'Move the `tag` rule above this one.',
            ])
          : warning('SUB_LINT_UNTAGGED', path, [
              `no rule tags calls as ${quote(name)}`,
              'Add a `tag` rule above, or check the spelling.',
            ]),
      );
    }
    for (const name of ruleClasses(rule)) taggedAbove.add(name);
  }
  return found;
}
