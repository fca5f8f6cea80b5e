// Calls that wait for a person. They end by approval, rejection, timeout, cancellation or shutdown.

import { asciiBytes, concatBytes } from '../json/text.ts';
import { decide } from '../policy/decide/decide.ts';
import { visible } from '../text/visible.ts';
import { progressLine } from './answer-lines.ts';
import { applyDecision } from './apply-decision.ts';
import { hubOutcome, limitsFor } from './ask-hub.ts';
import {
  askForRetry,
  askPeople,
  type RefusalReason,
  refusedAs,
  refusedUnasked,
  UNAVAILABLE,
} from './ask-people.ts';
import type { MessageStep } from './context.ts';
import {
  type DecidedCall,
  decideByGates,
  decideHere,
  withApproved,
  withoutMarks,
} from './decide-call.ts';
import type { Guard } from './guard.ts';
import { LeaseNeeds, mayDecide } from './leases.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import type { MessageId } from './peek/types.ts';
import { emitEnd, recordDecision } from './record-call.ts';
import type { AskedFor, DiscardReason, HeldAnswer, HubAnswer } from './types.ts';

export interface HeldCall {
  readonly decided: DecidedCall;
  readonly id: MessageId;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The rules that a person has approved it for, under this policy and these gates. */
  readonly approvedRules: readonly string[];
  readonly policyHash: string;
  readonly guard: Guard | undefined;
  /** Its message. */
  readonly line: Uint8Array;
  /** A person has approved it, and the hub is asked whether it passes. */
  readonly consulting: boolean;
  progressAtMs: number;
  progress: number;
}

const REFUSED = {
  rejected: { reason_code: 'APPROVAL_REJECTED', summary: 'A person has rejected this call.' },
  timeout: { reason_code: 'APPROVAL_TIMEOUT', summary: 'Nobody approved this call in time.' },
  unavailable: UNAVAILABLE,
  declined: {
    reason_code: 'APPROVAL_REJECTED',
    summary: 'The client was told to ask its user, and has not run this call.',
  },
} as const;

const NOTE_LENGTH_MAX = 300;

/** The agent reads why, marked as the words of the person: short, on one line, secrets taken out. */
function rejectedWith({ context }: MessageStep, note: string): RefusalReason {
  if (note.trim() === '') return REFUSED.rejected;
  const { reason_code, summary } = REFUSED.rejected;
  const words = visible(context.redact(note), NOTE_LENGTH_MAX);
  return { reason_code, summary: `${summary} In their words: "${words}"` };
}

const ABANDONED = {
  reason_code: 'APPROVAL_CANCELLED',
  summary: 'The call was given up before anybody had approved it.',
};

const NEWLINE = asciiBytes('\n');

/** Keeps a call until a person has answered. Nothing is counted yet: it is decided again then. */
export function holdCall(step: MessageStep, decided: DecidedCall): void {
  const { context, nowMs, forward } = step;
  const { id, read, outcome } = decided;
  const { approval } = outcome.decision;
  if (approval === undefined || id === undefined) throw new Error('this call needs no approval');
  const asked = askPeople(step, decided);
  if (asked === undefined) {
    const refused = refusedUnasked(step, decided);
    recordDecision(step, refused);
    return applyDecision(step, refused);
  }
  const callId = read.ref.call_id;
  const { tool_name, subject } = read.call;
  const method = subject === undefined ? TOOLS_CALL : tool_name;
  const request = { method, sinceMs: nowMs, call: undefined, heldAs: callId };
  context.requests.agent.add(id.json, request);
  // A message of a batch has no newline of its own.
  const part = forward.do === 'forward' ? forward.bytes : undefined;
  context.held.set(callId, {
    decided,
    id,
    sinceMs: nowMs,
    untilMs: untilMs(asked, nowMs + approval.timeout_ms),
    approvedRules: [],
    policyHash: context.snapshot.ref.policy_hash,
    guard: context.guard,
    line: part === undefined ? step.bytes : concatBytes(part, NEWLINE),
    consulting: false,
    progressAtMs: nowMs + context.limits.progressMs,
    progress: 0,
  });
}

function untilMs({ isUntimed }: AskedFor, timeoutMs: number): number {
  return isUntimed === true ? Number.POSITIVE_INFINITY : timeoutMs;
}

/** A person has answered about a held call, or its time is up. */
export function resolveHeld(tick: MessageStep, callId: string, answer: HeldAnswer): void {
  const { context } = tick;
  const held = context.held.get(callId);
  if (held === undefined || held.consulting) return;
  const step = { ...tick, bytes: held.line };
  if (answer !== 'approved') {
    const why = answer === 'timeout' ? 'timeout' : 'refused';
    const reason = typeof answer === 'string' ? REFUSED[answer] : rejectedWith(step, answer.note);
    return settle(step, held, { again: decideRefused(step, held, reason), why });
  }
  const { read, outcome, id } = held.decided;
  const { guard } = context;
  const policyHash = context.snapshot.ref.policy_hash;
  // An approval under another policy or other gates does not count: people are asked again.
  const isSamePolicy = held.policyHash === policyHash;
  const isSame = isSamePolicy && held.guard === guard;
  const approvedRules = isSame ? [...held.approvedRules, outcome.decision.rule_id ?? ''] : [];
  const now = { ...held, approvedRules, policyHash, guard };
  if (!read.shared) return goOnHere(step, now);
  const passed = outcome.gated?.rules;
  if (isSamePolicy && passed?.decision.action === 'ALLOW') {
    // The hub has let it pass and counted it: only the gates here have asked.
    const rules = { ...passed, state: context.state };
    return goOn(step, now, decideByGates(step, { read, id, outcome: rules }, approvedRules));
  }
  // The hub decided it, and must decide it again before it may pass.
  context.held.set(callId, { ...now, consulting: true });
  const call = withApproved(read.call, [...(read.call.approved ?? []), ...approvedRules]);
  const limits = limitsFor(step, read.call);
  const question = { ref: read.ref, call, beside: read.envelope?.rest, limits };
  step.out.push({ do: 'consult', question });
}

/** Decides a call here that a person has approved, once its leases are there. */
function goOnHere(step: MessageStep, held: HeldCall): void {
  const { context } = step;
  const { read, id } = held.decided;
  const { call, ref } = read;
  if (mayDecide(step, call) || held.consulting) {
    // Another policy or other gates may be in force since the hub was asked.
    const { policy_hash } = context.snapshot.ref;
    const isSame = held.policyHash === policy_hash && held.guard === context.guard;
    const again = decideHere(step, { read, id }, isSame ? held.approvedRules : []);
    return goOn(step, { ...held, consulting: false }, again);
  }
  context.held.set(ref.call_id, { ...held, consulting: true });
  const needs = new LeaseNeeds(context);
  needs.add(call);
  step.out.push({ do: 'consult', question: { ref, call, leases: needs.list() } });
}

/** The hub has answered about a held call that a person has approved. */
export function consulted(tick: MessageStep, answer: HubAnswer): void {
  const { callId, outcome } = answer;
  const held = tick.context.held.get(callId);
  if (held === undefined || !held.consulting) return;
  const step = { ...tick, bytes: held.line, answers: [answer] };
  const { read, id } = held.decided;
  if (!read.shared) return goOnHere(step, held);
  const rules = hubOutcome(step.context, outcome);
  const again = decideByGates(step, { read, id, outcome: rules }, held.approvedRules);
  goOn(step, { ...held, consulting: false }, again);
}

/** Goes on with an approved call: it passes, unless another rule refuses it or asks a person itself. */
function goOn(step: MessageStep, held: HeldCall, again: DecidedCall): void {
  const { approval } = again.outcome.decision;
  if (approval === undefined) return settle(step, held, { again, why: 'refused' });
  if (approval.wait === 'hint') {
    return settle(step, held, { again: askForRetry(step, again), why: 'refused' });
  }
  const asked = askPeople(step, again);
  if (asked === undefined) {
    return settle(step, held, { again: refusedUnasked(step, again), why: 'refused' });
  }
  // It waits again, with a timeout of its own.
  const until = untilMs(asked, step.nowMs + approval.timeout_ms);
  step.context.held.set(again.read.ref.call_id, { ...held, decided: again, untilMs: until });
}

/** Ends the waiting: the decision is recorded, then applied. `why` counts if the call is refused. */
function settle(
  step: MessageStep,
  held: HeldCall,
  { again, why }: { readonly again: DecidedCall; readonly why: DiscardReason },
): void {
  const callId = again.read.ref.call_id;
  release(step, held);
  recordDecision(step, again);
  if (again.outcome.decision.action !== 'ALLOW') step.out.push({ do: 'discard', callId, why });
  const forward = { do: 'forward', to: 'server', bytes: held.line } as const;
  applyDecision({ ...step, bytes: held.line, forward }, again);
}

function release({ context }: MessageStep, { decided, id }: HeldCall): void {
  context.held.delete(decided.read.ref.call_id);
  context.requests.agent.take(id.json);
}

/** The agent sends nothing more, but may still read: its waiting calls are refused. */
export function endHeld(step: MessageStep): void {
  for (const held of [...step.context.held.values()]) {
    settle(step, held, { again: abandoned(step, held), why: 'cancelled' });
  }
}

/** Ends a held call that nobody waits for any more. */
export function abandonHeld(step: MessageStep, callId: string): void {
  const held = step.context.held.get(callId);
  if (held === undefined) return;
  const { decided, sinceMs } = held;
  release(step, held);
  recordDecision(step, abandoned(step, held));
  emitEnd(step, decided.read.ref, { status: 'CANCELLED', sinceMs, bytesOut: 0 });
  step.out.push({ do: 'discard', callId, why: 'cancelled' });
}

/** Nothing of the call was counted, so the state stays as it is now. */
function abandoned({ context }: MessageStep, { decided }: HeldCall): DecidedCall {
  const { outcome, ...call } = refusedAs(decided, ABANDONED);
  return { ...call, outcome: { ...outcome, state: context.state } };
}

/** Decides a refused call again, so that counters count it once; it never passes. */
function decideRefused(
  { context, nowMs }: MessageStep,
  { decided, approvedRules }: HeldCall,
  reason: RefusalReason,
): DecidedCall {
  const refused = refusedAs(decided, reason);
  const { read, id } = decided;
  if (read.shared || !mayDecide({ context }, read.call)) {
    // Other calls have been counted since this one was held.
    return { ...refused, outcome: { ...refused.outcome, state: context.state } };
  }
  const call = withApproved(read.call, approvedRules);
  const outcome = decide(context.snapshot, call, context.state, nowMs);
  const { action, approval } = outcome.decision;
  // Another rule may refuse the call by now, and its reason helps the agent more.
  if (action !== 'ALLOW' && approval === undefined) return { read, id, outcome };
  const { decision } = refused.outcome;
  return { read, id, outcome: { ...outcome, decision, state: withoutMarks(context, outcome) } };
}

/** Ends held calls whose time is up, and sends progress to the callers of the others. */
export function tickHeld(step: MessageStep): void {
  const { context, nowMs, out } = step;
  for (const [callId, held] of [...context.held]) {
    const { progressToken } = held.decided.read;
    if (nowMs >= held.untilMs && !held.consulting) resolveHeld(step, callId, 'timeout');
    else if (progressToken !== undefined && nowMs >= held.progressAtMs) {
      held.progressAtMs = nowMs + context.limits.progressMs;
      const text = progressLine(progressToken, ++held.progress);
      out.push({ do: 'answer', to: 'agent', text });
    }
  }
}
