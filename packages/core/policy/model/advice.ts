// What lint gives.
import type { SubCode } from '@subluminal/contracts';
import type { Path } from '../../source/problem.ts';

/** The table of codes is a contract; what is not in it cannot be reported. */
export type LintCode = Extract<SubCode, `SUB_LINT_${string}`>;

export interface Advice {
  readonly level: 'warning' | 'note';
  readonly code: LintCode;
  readonly path: Path;
  /** How far inside the string at `path`. */
  readonly inside?: number;
  readonly message: string;
  readonly fix: string;
}

export function warning(code: LintCode, path: Path, words: readonly [string, string]): Advice {
  return { level: 'warning', code, path, message: words[0], fix: words[1] };
}

export function note(code: LintCode, path: Path, words: readonly [string, string]): Advice {
  return { level: 'note', code, path, message: words[0], fix: words[1] };
}
