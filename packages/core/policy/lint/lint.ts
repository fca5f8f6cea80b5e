// Advice on bundles that are valid, but may not do what their author thinks.
import type { Bundle } from '@subluminal/contracts';
import { formatPath, type Problem, sorted } from '../../source/problem.ts';
import type { PositionOf } from '../read/parse.ts';
import { missingGuards } from './check-arguments.ts';
import { commandPrograms, commandSettings, unguardedFiles } from './check-commands.ts';
import {
  disabledRules,
  droppedHints,
  kindAdvice,
  missingHints,
  shortDurations,
} from './check-effects.ts';
import { unpinnedTools, unseenMethods } from './check-names.ts';
import { coveredRules, missingTags } from './check-order.ts';
import { rawPaths } from './check-paths.ts';
import {
  failsOpen,
  noRules,
  observesOnly,
  rawRefusals,
  readsUntagged,
  ruleOfTwoWithoutTools,
  sectionsAskNobody,
  sectionsObserve,
  selectorPatterns,
  unprotected,
  uselessSuppressions,
} from './check-settings.ts';
import { hiddenTexts } from './hidden.ts';
import type { LintCheck, LintOptions, Subject } from './lint-subject.ts';

const CHECKS: readonly LintCheck[] = [
  coveredRules,
  missingTags,
  kindAdvice,
  missingHints,
  droppedHints,
  shortDurations,
  disabledRules,
  missingGuards,
  rawPaths,
  unguardedFiles,
  commandPrograms,
  commandSettings,
  unpinnedTools,
  unseenMethods,
  rawRefusals,
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

/** Everything worth a second look, in the order of the file. */
export function lintBundle(
  bundle: Bundle,
  positionOf: PositionOf,
  { file, ...known }: LintOptions,
): readonly Problem[] {
  const placed = bundle.rules.map((rule, index) => ({ rule, index }));
  const enabled = placed.filter(({ rule }) => rule.enabled);
  const subject: Subject = { bundle, enabled, ...known };
  const advice = CHECKS.flatMap((check) => check(subject));
  return sorted(
    advice.map(({ path, inside, ...rest }) => {
      return { ...rest, file, position: positionOf(path, inside), path: formatPath(path) };
    }),
  );
}
