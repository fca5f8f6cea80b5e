// Advice on single rules: effects that surprise.
import type { Path } from '../../source/problem.ts';
import { quote } from '../../text/visible.ts';
import { type Advice, note, warning } from '../model/advice.ts';
import { effectSection } from '../rule-kind/rule-kind.ts';
import { ruleKind } from '../rules/index.ts';
import { ruleReview } from '../rules/reviews.ts';
import type { PlacedRule, Subject } from './lint-subject.ts';

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
    const action = effectSection(rule)[actionField];
    if (action !== 'REJECT_WITH_HINT' || hintPath({ rule, index }) !== undefined) return [];
    const path = ['rules', index, 'effect', rule.kind, actionField];
    const message = `${quote(rule.rule_id)} rejects with a hint, but has no \`hint_text\``;
    const fix = 'Add a `hint_text` that tells the agent what to do instead.';
    return warning('SUB_LINT_NO_HINT', path, [message, fix]);
  });
}

/** Where the text of a rule's hint stands; undefined without one. */
function hintPath({ rule, index }: PlacedRule): Path | undefined {
  const path = ['rules', index, 'effect'];
  if ('hint' in rule.effect && rule.effect.hint?.hint_text !== undefined) return [...path, 'hint'];
  const isShort = effectSection(rule)['hint_text'] !== undefined;
  return isShort ? [...path, rule.kind, 'hint_text'] : undefined;
}

/** A hint reaches the agent only with the action REJECT_WITH_HINT. */
export function droppedHints({ enabled, bundle: { mode } }: Subject): readonly Advice[] {
  return enabled.flatMap((placed) => {
    const { rule } = placed;
    const path = hintPath(placed);
    if (path === undefined) return [];
    const what = `the hint of ${quote(rule.rule_id)} is dropped`;
    const { actionField, role } = ruleKind(rule.kind);
    const action = actionField === undefined ? undefined : effectSection(rule)[actionField];
    if (typeof action === 'string' && action !== 'REJECT_WITH_HINT') {
      const fix = `Write \`${actionField}: REJECT_WITH_HINT\`, or remove the hint.`;
      const message = `${what}: \`${actionField}: ${action}\` sends none`;
      return warning('SUB_LINT_HINT_DROPPED', path, [message, fix]);
    }
    // Lint says of an approval that nobody is asked in this mode; that is the greater loss.
    if (role !== 'denies' || mode !== 'guardrails') return [];
    const message = `${what}: in guardrails mode a \`${rule.kind}\` is a plain BLOCK`;
    const fix = 'Write `mode: control`, or put the advice into `message`.';
    return warning('SUB_LINT_HINT_DROPPED', path, [message, fix]);
  });
}

/** Shorter than these, a duration was most likely meant in seconds or minutes. */
const PLAUSIBLE_MS: { readonly [field: string]: number } = {
  window_ms: 500,
  repeat_window_ms: 500,
  timeout_ms: 1_000,
  refill_period_ms: 50,
};

export function shortDurations({ enabled }: Subject): readonly Advice[] {
  return enabled.flatMap(({ rule, index }) =>
    Object.entries(effectSection(rule)).flatMap(([field, value]) => {
      const least = Object.hasOwn(PLAUSIBLE_MS, field) ? (PLAUSIBLE_MS[field] ?? 0) : 0;
      if (typeof value !== 'number' || value >= least) return [];
      const message = `\`${field}: ${value}\` is ${value === 1 ? '1 millisecond' : `${value} milliseconds`}`;
      const fix = `For ${value} seconds write \`${field}: ${value * 1_000}\`.`;
      const path = ['rules', index, 'effect', rule.kind, field];
      return warning('SUB_LINT_DURATION', path, [message, fix]);
    }),
  );
}

export function disabledRules({ bundle }: Subject): readonly Advice[] {
  return bundle.rules.flatMap((rule, index) => {
    if (rule.enabled) return [];
    const message = `${quote(rule.rule_id)} is disabled`;
    const fix = 'Remove the rule when it is no longer needed.';
    return note('SUB_LINT_DISABLED', ['rules', index, 'enabled'], [message, fix]);
  });
}
