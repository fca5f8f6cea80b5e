import type { Bundle, RuleOf } from '@subluminal/contracts';
import type { Path } from '../../../source/problem.ts';
import { quote } from '../../../text/visible.ts';
import { type Advice, warning } from '../../model/advice.ts';

/** Only control mode asks people. */
export function asksNobody(
  { rule_id }: RuleOf<'approval'>,
  path: Path,
  { mode }: Bundle,
): readonly Advice[] {
  if (mode === 'control') return [];
  const instead = mode === 'observe' ? 'only records what it would do' : 'blocks at once';
  const words = `${quote(rule_id)} asks nobody in ${mode} mode: it ${instead}`;
  return [warning('SUB_LINT_APPROVAL_MODE', [...path, 'kind'], [words, 'Write `mode: control`.'])];
}
