// What every lint check takes.
import type { Bundle, Rule } from '@subluminal/contracts';
import type { Advice } from '../model/advice.ts';

export interface PlacedRule {
  readonly rule: Rule;
  readonly index: number;
}

/** A bundle, prepared for checks: most of them only care for rules in force. */
export interface Subject {
  readonly bundle: Bundle;
  readonly enabled: readonly PlacedRule[];
  readonly nowMs: number;
}

export type LintCheck = (subject: Subject) => readonly Advice[];
