// Of two decisions about one call, the stricter one.
import type { Decision } from '@subluminal/contracts';
import type { Outcome, TraceStep } from '../model/call.ts';
import type { PolicyState } from './verdict.ts';

const STRICTNESS: { readonly [A in Decision['action']]: number } = {
  ALLOW: 1,
  THROTTLE: 4,
  REJECT_WITH_HINT: 5,
  BLOCK: 6,
  TERMINATE_RUN: 7,
};
const NOT_FOR_THIS_AGENT = 0;
const WOULD_REFUSE = 2;
const ASKS = 3;

/** The higher, the stricter. A refusal that a person may lift is milder than one that is final. */
export function strictnessOf({ action, approval, would, reason_code }: Decision): number {
  if (approval !== undefined) return ASKS;
  if (action !== 'ALLOW') return STRICTNESS[action];
  if (would !== undefined) return WOULD_REFUSE;
  return reason_code === 'NOT_SELECTED' ? NOT_FOR_THIS_AGENT : STRICTNESS.ALLOW;
}

/** Both outcomes as one. `second` went on from the state of `first`. */
export function stricterOutcome(
  first: Outcome<PolicyState>,
  second: Outcome<PolicyState>,
): Outcome<PolicyState> {
  const isSecond = strictnessOf(second.decision) > strictnessOf(first.decision);
  const { decision } = isSecond ? second : first;
  return {
    decision,
    state: second.state,
    trace: isSecond
      ? [...overruled(first.trace), ...second.trace]
      : [...first.trace, ...overruled(second.trace)],
    risk_class: [...new Set([...first.risk_class, ...second.risk_class])],
  };
}

/** The trace of a policy that did not decide in the end. */
export function overruled(trace: readonly TraceStep[]): readonly TraceStep[] {
  return trace.map((taken) =>
    taken.outcome === 'decided' ? { ...taken, outcome: 'would_decide' } : taken,
  );
}
