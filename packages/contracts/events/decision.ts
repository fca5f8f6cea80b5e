import type { Decision, PolicyRef } from '../decision.ts';
import type { EventDecision } from './call.ts';

/** Contract C's flat decision in the nesting of contract A. */
function eventDecision(decision: Decision, policy: PolicyRef): EventDecision {
  const { summary, reason_code, ...rest } = decision;
  return { ...rest, explain: { summary, reason_code }, policy };
}

export { eventDecision };
