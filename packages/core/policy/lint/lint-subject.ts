// What every lint check takes.
import type { Bundle, Rule } from '@subluminal/contracts';
import type { ParseWhen } from '../match/when-survey.ts';
import type { Advice } from '../model/advice.ts';

export interface PlacedRule {
  readonly rule: Rule;
  readonly index: number;
}

/** What lint knows beside the bundle. */
export interface LintOptions {
  readonly file: string;
  /** Suppressions expire, so lint needs the time. */
  readonly nowMs: number;
  readonly parseWhen: ParseWhen;
  /** The tools of each server that is pinned here; without them, no name is looked up. */
  readonly tools?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** A bundle, prepared for checks: most of them only care for rules in force. */
export interface Subject extends Omit<LintOptions, 'file'> {
  readonly bundle: Bundle;
  readonly enabled: readonly PlacedRule[];
}

export type LintCheck = (subject: Subject) => readonly Advice[];
