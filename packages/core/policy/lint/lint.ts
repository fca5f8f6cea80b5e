// Advice on bundles that are valid, but may not do what their author thinks.
import type { Bundle } from '@subluminal/contracts';
import { formatPath, type Problem, sorted } from '../../source/problem.ts';
import type { PositionOf } from '../read/parse.ts';
import { disabledRules, kindAdvice, missingHints } from './check-effects.ts';
import { coveredRules, missingTags } from './check-order.ts';
import {
  failsOpen,
  noRules,
  observesOnly,
  readsUntagged,
  ruleOfTwoWithoutTools,
  sectionsAskNobody,
  sectionsObserve,
  selectorPatterns,
  unprotected,
  uselessSuppressions,
} from './check-settings.ts';
import { hiddenTexts } from './hidden.ts';
import type { LintCheck, Subject } from './lint-subject.ts';

const CHECKS: readonly LintCheck[] = [
  coveredRules,
  missingTags,
  kindAdvice,
  missingHints,
  disabledRules,
  failsOpen,
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
  /** Suppressions expire, so lint needs the time. */
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
