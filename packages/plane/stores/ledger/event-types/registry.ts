// Every event type of contract A, with what the ledger and `sub tail` do with it.
import type { EventType } from '@subluminal/contracts';
import { approval } from './approval.ts';
import { breakerTrip } from './breaker-trip.ts';
import { changeDecision } from './change-decision.ts';
import { hintIssued } from './hint-issued.ts';
import { policyLoaded } from './policy-loaded.ts';
import { runEnd, runStart } from './run.ts';
import { secretInjection } from './secret-injection.ts';
import { shimHealth } from './shim-health.ts';
import { surface } from './surface.ts';
import { toolCallDecision, toolCallEnd, toolCallStart } from './tool-call.ts';
import { turnDecision, turnEnd, turnStart } from './turn.ts';
import type { EventMember } from './types.ts';

export const EVENT_MEMBERS: { readonly [T in EventType]: EventMember<T> } = {
  run_start: runStart,
  tool_call_start: toolCallStart,
  tool_call_decision: toolCallDecision,
  tool_call_end: toolCallEnd,
  run_end: runEnd,
  hint_issued: hintIssued,
  policy_loaded: policyLoaded,
  secret_injection: secretInjection,
  shim_health: shimHealth,
  breaker_trip: breakerTrip,
  approval,
  surface,
  change_decision: changeDecision,
  turn_start: turnStart,
  turn_decision: turnDecision,
  turn_end: turnEnd,
};

export function eventMember(type: EventType): EventMember {
  return EVENT_MEMBERS[type];
}
