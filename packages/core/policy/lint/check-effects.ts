// Advice on single rules: effects that surprise.
import { quote } from '../../text/visible.ts';
import { type Advice, note, warning } from '../model/advice.ts';
import { effectSection } from '../rule-kind/rule-kind.ts';
import { ruleKind } from '../rules/index.ts';
import { ruleReview } from '../rules/reviews.ts';
import type { Subject } from './lint-subject.ts';

/** Advice that the kind of a rule has on it. */
export function kindAdvice({ enabled, bundle }: Subject): readonly Advice[] {
  return enabled.flatMap(
    ({ rule, index }) => ruleReview(rule.kind).lint?.(rule, ['rules', index], bundle) ?? [],
  );
}

/** An agent that gets a refusal without a hint tries again. */
export function missingHints({ enabled }: Subject): readonly Advice[] {
  return enabled.flatMap(({ rule, index }) => {
    const { actionField } = ruleKind(rule.kind);
    if (actionField === undefined) return [];
    const { hint_text, [actionField]: action } = effectSection(rule);
    const full = 'hint' in rule.effect ? rule.effect.hint?.hint_text : undefined;
    if (action !== 'REJECT_WITH_HINT' || (full ?? hint_text) !== undefined) return [];
    const path = ['rules', index, 'effect', rule.kind, actionField];
    const message = `${quote(rule.rule_id)} rejects with a hint, but has no \`hint_text\``;
    const fix = 'Add a `hint_text` that tells the agent what to do instead.';
    return warning('SUB_LINT_NO_HINT', path, [message, fix]);
  });
}

export function disabledRules({ bundle }: Subject): readonly Advice[] {
  return bundle.rules.flatMap((rule, index) => {
    if (rule.enabled) return [];
    const message = `${quote(rule.rule_id)} is disabled`;
    const fix = 'Remove the rule when it is no longer needed.';
    return note('SUB_LINT_DISABLED', ['rules', index, 'enabled'], [message, fix]);
  });
}
