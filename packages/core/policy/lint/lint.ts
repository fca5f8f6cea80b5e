// Advice on bundles that are valid, but may not do what their author thinks.
import type { Bundle } from '@subluminal/contracts';
import type { Problem } from '../problem.ts';
import { formatPath, sorted } from '../read/finding.ts';
import type { PositionOf } from '../read/parse.ts';
import type { LintCheck, Subject } from './advice.ts';
import {
  broadDedupes,
  disabledRules,
  impossibleBudgets,
  missingHints,
  unanchoredAllows,
} from './effects.ts';
import { hiddenTexts } from './hidden.ts';
import {
  approvalsWithoutControl,
  failsOpen,
  observesOnly,
  readsUntagged,
  unprotected,
} from './modes.ts';
import { coveredRules, missingTags } from './order.ts';
import {
  ruleOfTwoWithoutTools,
  sectionsAskNobody,
  sectionsObserve,
  uselessSuppressions,
} from './sections.ts';
import { noRules, selectorPatterns } from './selectors.ts';

const CHECKS: readonly LintCheck[] = [
  coveredRules,
  missingTags,
  unanchoredAllows,
  missingHints,
  disabledRules,
  impossibleBudgets,
  broadDedupes,
  failsOpen,
  approvalsWithoutControl,
  observesOnly,
  readsUntagged,
  unprotected,
  selectorPatterns,
  hiddenTexts,
  noRules,
  sectionsObserve,
  sectionsAskNobody,
  uselessSuppressions,
  ruleOfTwoWithoutTools,
];

interface LintPlace {
  readonly file: string;
  /** Some of what a bundle says ends on a day. */
  readonly nowMs: number;
}

/** Everything worth a second look, in the order of the file. */
export function lintBundle(
  bundle: Bundle,
  positionOf: PositionOf,
  { file, nowMs }: LintPlace,
): readonly Problem[] {
  const placed = bundle.rules.map((rule, index) => ({ rule, index }));
  const enabled = placed.filter(({ rule }) => rule.enabled);
  const subject: Subject = { bundle, enabled, nowMs };
  const advice = CHECKS.flatMap((check) => check(subject));
  return sorted(
    advice.map(({ path, ...rest }) => {
      return { ...rest, file, position: positionOf(path), path: formatPath(path) };
    }),
  );
}
