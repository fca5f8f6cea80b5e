// Small valid bundles that the tests bend. Nothing else imports this.
import type { PatternChecks } from '../read/check-patterns.ts';

/** Checks that accept every pattern. */
export const NO_CHECKS: PatternChecks = {
  regex: () => undefined,
  glob: () => undefined,
  when: () => undefined,
};

/** A bundle in YAML around rules that are given as indented text. */
export function bundleText(rules: string, head: { mode?: string; defaults?: string } = {}): string {
  const { mode = 'control', defaults = '{ decision_on_error: BLOCK }' } = head;
  return `policy_id: sample
version: "1"
mode: ${mode}
defaults: ${defaults}
selectors: {}
rules:
${rules}`;
}

interface RuleText {
  readonly id?: string;
  readonly kind: string;
  readonly effect: string;
  readonly match?: string;
  readonly enabled?: boolean;
  readonly when?: string;
}

/** One rule in YAML, as an item of `rules`. */
export function ruleText({
  id,
  kind,
  effect,
  match = '{}',
  enabled = true,
  when,
}: RuleText): string {
  const condition = when === undefined ? '' : `    when: ${when}\n`;
  return `  - rule_id: ${id ?? kind}
    kind: ${kind}
    enabled: ${enabled}
    match: ${match}
${condition}    effect: ${effect}
    severity: warn
`;
}

export const EFFECTS = {
  allow: '{ action: ALLOW }',
  deny: '{ action: BLOCK }',
  budget: '{ budget: { scope: run, limit_calls: 5, on_exceed: BLOCK } }',
  rate_limit:
    '{ rate_limit: { scope: run, capacity: 5, refill_tokens: 1, refill_period_ms: 1000, on_limit: THROTTLE, backoff_ms: 10 } }',
  breaker: '{ breaker: { scope: run, error_threshold: 3, window_ms: 1000, on_trip: BLOCK } }',
  dedupe: '{ dedupe: { scope: run, window_ms: 1000, key: args_hash, on_duplicate: BLOCK } }',
  approval: '{ approval: { wait: hold } }',
  tag: '{ tag: { add_risk_class: [write_like] } }',
} as const;

/** One rule of a kind with an effect that is right. */
export function sampleRule(kind: keyof typeof EFFECTS, rest: Partial<RuleText> = {}): string {
  return ruleText({ kind, effect: EFFECTS[kind], ...rest });
}
