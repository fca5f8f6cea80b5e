// The rules of two policies side by side.
import type { Rule } from '@subluminal/contracts';

/** A rule that both policies have, under the same name and of the same kind. */
export interface RulePair {
  readonly before: Rule;
  readonly after: Rule;
}

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

export function isSteady(pair: RulePair | undefined): pair is RulePair {
  return pair?.before.enabled === true && pair.after.enabled;
}
