// What a diff is made of.
import type { JsonValue, Severity } from '@subluminal/contracts';

/** What a change does to the calls that pass. */
export type Effect =
  | 'loosens' // something may pass that was stopped
  | 'tightens' // something may be stopped that passed
  | 'mixed' // both
  | 'alters' // decisions may differ, and which way can't be told
  | 'none'; // no decision differs in what it does

export interface PolicyChange {
  /** Where, like `rules[no-push].effect.budget.limit_calls`. */
  readonly path: string;
  /** The rule it belongs to, or null for the policy as a whole. */
  readonly rule_id: string | null;
  readonly change: 'added' | 'removed' | 'changed' | 'moved';
  readonly effect: Effect;
  readonly severity: Severity;
  /** The change in a few words. */
  readonly summary: string;
  /** The old value; null when there was none. A moved rule has its place, counted from 1. */
  readonly before: JsonValue;
  readonly after: JsonValue;
}

export interface PolicyDiff {
  readonly changes: readonly PolicyChange[];
  readonly summary: {
    readonly critical: number;
    readonly warn: number;
    readonly info: number;
    readonly loosens: number;
    readonly mixed: number;
    readonly tightens: number;
  };
  /** Whether nothing differs that a decision depends on, nor the version. */
  readonly same: boolean;
}

const SEVERITIES: { readonly [E in Effect]: Severity } = {
  loosens: 'critical',
  mixed: 'critical',
  alters: 'warn',
  tightens: 'info',
  none: 'info',
};

/** One effect for several: a part that loosens is never hidden by another that does not. */
export function combineEffects(effects: readonly Effect[]): Effect {
  const known = new Set(effects.filter((effect) => effect !== 'none'));
  const [only] = known;
  if (only === undefined) return 'none';
  return known.size === 1 ? only : 'mixed';
}

export function reversed(effect: Effect): Effect {
  if (effect === 'loosens') return 'tightens';
  return effect === 'tightens' ? 'loosens' : effect;
}

export function changeOf(parts: Omit<PolicyChange, 'severity'>): PolicyChange {
  return { ...parts, severity: SEVERITIES[parts.effect] };
}

/**
 * How a rule takes hold of more calls: it is looked at for more of them, where it may apply and may
 * fail; it applies to more; it applies where it failed before; or it fails for fewer.
 */
export type Shift = 'all' | 'applying' | 'evaluated' | 'sparing';

export interface Reach {
  /** What it does that the rule takes hold of more calls; of fewer, it is the reverse. */
  readonly more: (shift: Shift) => Effect;
  /** What it does that the rule adds these classes to the calls it matches. */
  readonly tagging: (classes: readonly string[]) => Effect;
  /** The effect of a change that does none of this: classes that no rule reads are still recorded. */
  readonly otherwise: Effect;
}
