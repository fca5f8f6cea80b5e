import type { RuleOf } from '@subluminal/contracts';
import {
  conflictFinding,
  type Finding,
  missingFinding,
  type Path,
} from '../../../source/problem.ts';

export function impossibleBucket({ effect }: RuleOf<'rate_limit'>, path: Path): readonly Finding[] {
  const { on_limit, backoff_ms, capacity, cost_tokens_per_call: cost = 1 } = effect.rate_limit;
  const at = [...path, 'effect', 'rate_limit'];
  const found: Finding[] = [];
  if (on_limit === 'THROTTLE' && backoff_ms === undefined) {
    const message = 'THROTTLE needs `backoff_ms`: how long the agent should wait';
    found.push(missingFinding(at, message, 'Add `backoff_ms: 1000`.'));
  }
  if (cost > capacity) {
    const message = `one call costs ${cost} tokens, but the bucket holds ${capacity}: none ever passes`;
    const fix = 'Raise `capacity`, or lower `cost_tokens_per_call`.';
    found.push(conflictFinding([...at, 'cost_tokens_per_call'], message, fix));
  }
  return found;
}
