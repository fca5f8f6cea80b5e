import type { RuleOf } from '@subluminal/contracts';
import {
  conflictFinding,
  type Finding,
  missingFinding,
  type Path,
} from '../../../source/problem.ts';

type BreakerRule = RuleOf<'breaker'>;

export function checkBreaker(rule: BreakerRule, path: Path): readonly Finding[] {
  return [...unpairedFields(rule, path), ...uselessCode(rule, path)];
}

const PAIRS = [
  ['error_threshold', 'window_ms'],
  ['repeat_threshold', 'repeat_window_ms'],
] as const;

function unpairedFields({ effect: { breaker } }: BreakerRule, path: Path): readonly Finding[] {
  const at = [...path, 'effect', 'breaker'];
  const given = PAIRS.flat().filter((field) => breaker[field] !== undefined);
  if (given.length === 0) {
    const message =
      'a breaker needs `error_threshold` with `window_ms`, or `repeat_threshold` with `repeat_window_ms`';
    return [missingFinding(at, message, 'Add `error_threshold: 5` and `window_ms: 60000`.')];
  }
  return PAIRS.flatMap(([threshold, window]) => {
    const hasThreshold = breaker[threshold] !== undefined;
    if (hasThreshold === (breaker[window] !== undefined)) return [];
    const [has, lacks] = hasThreshold ? [threshold, window] : [window, threshold];
    const example = hasThreshold ? 60_000 : 5;
    const message = `\`${has}\` needs \`${lacks}\``;
    const fix = `Add \`${lacks}: ${example}\`.`;
    return [conflictFinding([...at, has], message, fix)];
  });
}

function uselessCode({ effect }: BreakerRule, path: Path): readonly Finding[] {
  const { on_trip, terminate_code } = effect.breaker;
  if (terminate_code === undefined || on_trip === 'TERMINATE_RUN') return [];
  const message = `\`terminate_code\` has no meaning with \`on_trip: ${on_trip}\``;
  const fix = 'Remove it, or write `on_trip: TERMINATE_RUN`.';
  return [conflictFinding([...path, 'effect', 'breaker', 'terminate_code'], message, fix)];
}
