import type { RuleOf } from '@subluminal/contracts';
import type { Path } from '../../../source/problem.ts';
import { quote } from '../../../text/visible.ts';
import { matchesAll } from '../../match/cover.ts';
import { type Advice, warning } from '../../model/advice.ts';

/** Reading the same thing twice is no accident. */
export function matchesReads(rule: RuleOf<'dedupe'>, path: Path): readonly Advice[] {
  if (rule.when !== undefined || !matchesAll(rule.match)) return [];
  const words = `${quote(rule.rule_id)} refuses repeated reads too`;
  const fix = 'Match the calls that write, like `risk_class: [write_like]`.';
  return [warning('SUB_LINT_BROAD_DEDUPE', [...path, 'match'], [words, fix])];
}
