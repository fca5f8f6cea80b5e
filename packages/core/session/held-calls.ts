// Calls that wait for a person. They end by approval, rejection, time, cancellation or shutdown.

import type { Decision } from '@subluminal/contracts';
import { asciiBytes, concatBytes } from '../json/text.ts';
import { decide } from '../policy/decide/decide.ts';
import { progressLine } from './answer-lines.ts';
import { applyDecision } from './apply-decision.ts';
import { hubOutcome, limitsFor } from './ask-hub.ts';
import { askForRetry, askPeople, UNAVAILABLE } from './ask-people.ts';
import type { Context, MessageStep } from './context.ts';
import {
  type DecidedCall,
  decideWith,
  grantsTaken,
  type Judgement,
  throughGates,
  withApproved,
  withoutMarks,
} from './decide-call.ts';
import type { Guard } from './guard.ts';
import type { MessageId } from './peek/types.ts';
import { emitEnd, recordDecision } from './record-call.ts';
import type { ApprovalAnswer, HubAnswer } from './types.ts';

export interface HeldCall {
  readonly decided: DecidedCall;
  readonly id: MessageId;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The rules that a person has approved it for, by that policy and those gates. */
  readonly said: readonly string[];
  readonly policyHash: string;
  readonly guard: Guard | undefined;
  /** Its message. */
  readonly line: Uint8Array;
  /** It is approved, and the hub decides whether it passes. */
  readonly consulting: boolean;
  progressAtMs: number;
  progress: number;
}

const REFUSED: {
  readonly [E in Exclude<ApprovalAnswer, 'approved'>]: { reason_code: string; summary: string };
} = {
  rejected: { reason_code: 'APPROVAL_REJECTED', summary: 'A person has rejected this call.' },
  timeout: { reason_code: 'APPROVAL_TIMEOUT', summary: 'Nobody approved this call in time.' },
  unavailable: UNAVAILABLE,
};

const ABANDONED = {
  reason_code: 'APPROVAL_CANCELLED',
  summary: 'The call was given up before anybody had approved it.',
};

const NEWLINE = asciiBytes('\n');

/** Keeps a call until a person has answered. Nothing is counted yet: it is decided again then. */
export function holdCall(context: Context, step: MessageStep, decided: DecidedCall): void {
  const { id, read, outcome } = decided;
  const { approval } = outcome.decision;
  if (approval === undefined || id === undefined) throw new Error('this call needs no approval');
  if (askPeople(context, step, decided) === undefined) {
    const refused = refusedAs(decided, REFUSED.unavailable);
    recordDecision(context, step, refused);
    return applyDecision(context, step, refused);
  }
  const callId = read.ref.call_id;
  const { nowMs, forward } = step;
  const part = forward.do === 'forward' ? forward.bytes : undefined;
  const line = part === undefined ? step.bytes : concatBytes(part, NEWLINE);
  context.requests.agent.add(id.json, {
    method: 'tools/call',
    sinceMs: nowMs,
    call: undefined,
    heldAs: callId,
  });
  context.held.set(callId, {
    decided,
    id,
    sinceMs: nowMs,
    untilMs: nowMs + approval.timeout_ms,
    said: [],
    policyHash: context.snapshot.ref.policy_hash,
    guard: context.guard,
    line,
    consulting: false,
    progressAtMs: nowMs + context.limits.progressMs,
    progress: 0,
  });
  step.out.push({ do: 'hold', callId, bytes: line });
}

/** A person, or time, has decided about a held call. */
export function resolveHeld(
  context: Context,
  step: MessageStep,
  { callId, end }: { readonly callId: string; readonly end: ApprovalAnswer },
): void {
  const held = context.held.get(callId);
  if (held === undefined || held.consulting) return;
  if (end !== 'approved') {
    const again = refusal(context, step, { held, end });
    return settle(context, step, { held, end, again });
  }
  const { read, outcome, id } = held.decided;
  const { guard } = context;
  const policyHash = context.snapshot.ref.policy_hash;
  // What was approved under another policy, or for other gates, is asked again under these.
  const isSamePolicy = held.policyHash === policyHash;
  const isSame = isSamePolicy && held.guard === guard;
  const said = isSame ? [...held.said, outcome.decision.rule_id ?? ''] : [];
  const now = { ...held, said, policyHash, guard };
  if (!read.shared) {
    const again = { read, id, ...decideWith(context, step, { read, said }) };
    return goOn(context, step, { held: now, again });
  }
  const passed = outcome.gated?.rules;
  if (isSamePolicy && passed?.decision.action === 'ALLOW') {
    // The hub has let it pass and counted it: only the gates here have asked.
    const rules = { ...passed, state: context.state };
    return goOn(context, step, {
      held: now,
      again: gatedAgain(context, step, { held: now, rules }),
    });
  }
  // The hub decided it, and must decide it again before it may pass.
  context.held.set(callId, { ...now, consulting: true });
  const call = withApproved(read.call, [...(read.call.approved ?? []), ...said]);
  const limits = limitsFor(context, step, read.call);
  const question = { ref: read.ref, call, beside: read.envelope?.rest, limits };
  step.out.push({ do: 'consult', question });
}

/** What the hub said about a held call that a person has approved. */
export function consulted(
  context: Context,
  step: MessageStep,
  answer: Omit<HubAnswer, 'at'>,
): void {
  const held = context.held.get(answer.callId);
  if (held === undefined || !held.consulting) return;
  const rules = hubOutcome(context, answer.outcome);
  const again = gatedAgain(context, step, { held, rules });
  goOn(context, step, { held: { ...held, consulting: false }, again });
}

/** What the gates say of a held call that the hub has decided. */
function gatedAgain(
  context: Context,
  step: MessageStep,
  { held, rules }: { readonly held: HeldCall; readonly rules: Judgement },
): DecidedCall {
  const { decided, said } = held;
  const { read, id } = decided;
  const outcome = throughGates(context, step, { read, rules, said, bare: false });
  return grantsTaken(context, { read, id, outcome }, said);
}

/** Approved: the call passes, unless another rule refuses it or wants a person of its own. */
function goOn(
  context: Context,
  step: MessageStep,
  { held, again }: { readonly held: HeldCall; readonly again: DecidedCall },
): void {
  const { approval } = again.outcome.decision;
  if (approval === undefined) return settle(context, step, { held, end: 'approved', again });
  if (approval.wait === 'hint') {
    return settle(context, step, {
      held,
      end: 'approved',
      again: askForRetry(context, step, again),
    });
  }
  if (askPeople(context, step, again) === undefined) {
    const refused = refusedAs(again, REFUSED.unavailable);
    return settle(context, step, { held, end: 'unavailable', again: refused });
  }
  // It goes on waiting, with a patience of its own.
  const untilMs = step.nowMs + approval.timeout_ms;
  context.held.set(again.read.ref.call_id, { ...held, decided: again, untilMs });
}

/** Ends the waiting: the decision is on record, then carried out. */
function settle(
  context: Context,
  step: MessageStep,
  settled: {
    readonly held: HeldCall;
    readonly end: ApprovalAnswer | 'cancelled';
    readonly again: DecidedCall;
  },
): void {
  const { held, end, again } = settled;
  const callId = again.read.ref.call_id;
  context.held.delete(callId);
  context.requests.agent.take(held.id.json);
  recordDecision(context, step, again);
  if (again.outcome.decision.action !== 'ALLOW') {
    const why = end === 'timeout' || end === 'cancelled' ? end : 'refused';
    step.out.push({ do: 'discard', callId, why });
  }
  applyDecision(context, { ...step, bytes: held.line, forward: { do: 'release', callId } }, again);
}

/** The agent sends nothing more, and may still listen: what it waits for is refused. */
export function endHeld(context: Context, step: MessageStep): void {
  for (const held of [...context.held.values()]) {
    const refused = refusedAs(held.decided, ABANDONED);
    const again = { ...refused, outcome: { ...refused.outcome, state: context.state } };
    settle(context, step, { held, end: 'cancelled', again });
  }
}

/** Ends a held call that nobody waits for any more. */
export function abandonHeld(
  context: Context,
  step: MessageStep,
  callId: string,
): HeldCall | undefined {
  const held = context.held.get(callId);
  if (held === undefined) return undefined;
  const { decided, id, sinceMs } = held;
  context.held.delete(callId);
  context.requests.agent.take(id.json);
  // Nothing of it was counted, and what was counted since must not be forgotten.
  const { outcome, ...gone } = refusedAs(decided, ABANDONED);
  recordDecision(context, step, { ...gone, outcome: { ...outcome, state: context.state } });
  emitEnd(step, decided.read.ref, { status: 'CANCELLED', sinceMs, bytesOut: 0 });
  step.out.push({ do: 'discard', callId, why: 'cancelled' });
  return held;
}

/** Decides again, so that counters count the call once; what a person refused never passes. */
function refusal(
  context: Context,
  step: MessageStep,
  { held, end }: { readonly held: HeldCall; readonly end: Exclude<ApprovalAnswer, 'approved'> },
): DecidedCall {
  const { decided, said } = held;
  const { read, id } = decided;
  if (read.shared) return refusedAs(decided, REFUSED[end]);
  const call = withApproved(read.call, said);
  const outcome = decide(context.snapshot, call, context.state, step.nowMs);
  const { action, approval } = outcome.decision;
  // Another rule may refuse it meanwhile, and says so better.
  if (action !== 'ALLOW' && approval === undefined) return { read, id, outcome };
  const { rule_id, severity } = decided.outcome.decision;
  const decision: Decision = { action: 'BLOCK', rule_id, severity, ...REFUSED[end] };
  const state = withoutMarks(context, outcome);
  return { read, id, outcome: { ...outcome, decision, state } };
}

function refusedAs(
  decided: DecidedCall,
  why: { readonly reason_code: string; readonly summary: string },
): DecidedCall {
  const { rule_id, severity } = decided.outcome.decision;
  const decision: Decision = { action: 'BLOCK', rule_id, severity, ...why };
  return { ...decided, outcome: { ...decided.outcome, decision } };
}

/** Ends held calls whose time is up, and sends progress to the callers of the others. */
export function tickHeld(context: Context, step: MessageStep): void {
  for (const [callId, held] of [...context.held]) {
    const { progressToken } = held.decided.read;
    if (step.nowMs >= held.untilMs && !held.consulting) {
      resolveHeld(context, step, { callId, end: 'timeout' });
    } else if (progressToken !== undefined && step.nowMs >= held.progressAtMs) {
      held.progressAtMs = step.nowMs + context.limits.progressMs;
      held.progress++;
      const text = progressLine(progressToken, held.progress);
      step.out.push({ do: 'answer', to: 'agent', text });
    }
  }
}
