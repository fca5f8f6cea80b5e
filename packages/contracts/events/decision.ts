import type { Decision, PolicyRef } from '../decision/decision.ts';
import type { EventDecision } from './call.ts';

/** Contract C's flat decision in the nesting of contract A. Frozen: it is written many times. */
export function eventDecision(decision: Decision, policy: PolicyRef): EventDecision {
  const { summary, reason_code, ...rest } = decision;
  const explain = Object.freeze({ summary, reason_code });
  return Object.freeze({ ...rest, explain, policy: Object.freeze({ ...policy }) });
}
