// What every lint check takes and gives.
import type { Bundle, Rule, SubCode } from '@subluminal/contracts';
import type { Path } from '../../source/problem.ts';

/** The table of codes is a contract; what is not in it cannot be reported. */
export type LintCode = Extract<SubCode, `SUB_LINT_${string}`>;

export interface Advice {
  readonly level: 'warning' | 'note';
  readonly code: LintCode;
  readonly path: Path;
  readonly message: string;
  readonly fix: string;
}

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

export function warning(code: LintCode, path: Path, words: readonly [string, string]): Advice {
  return { level: 'warning', code, path, message: words[0], fix: words[1] };
}

export function note(code: LintCode, path: Path, words: readonly [string, string]): Advice {
  return { level: 'note', code, path, message: words[0], fix: words[1] };
}
