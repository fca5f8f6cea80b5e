// Calls that wait for a person. They end by approval, rejection, time, cancellation or shutdown.
import type { Decision } from '@subluminal/contracts';
import { decide } from '../policy/decide/decide.ts';
import type { Call } from '../policy/index.ts';
import { progressLine } from './answers.ts';
import { carryOut, type DecidedCall, recordDecision, wantedFor } from './carry-out.ts';
import type { Context, Step } from './context.ts';
import { emitEnd } from './events.ts';
import type { MessageId } from './peek/types.ts';
import type { ApprovalAnswer } from './types.ts';

interface HeldCall {
  readonly decided: DecidedCall;
  readonly id: MessageId;
  readonly sinceMs: number;
  readonly untilMs: number;
  progressAtMs: number;
  progress: number;
}

type HeldEnd = ApprovalAnswer | 'timeout';

const REFUSED: {
  readonly [E in Exclude<HeldEnd, 'approved'>]: { reason_code: string; summary: string };
} = {
  rejected: { reason_code: 'APPROVAL_REJECTED', summary: 'A person has rejected this call.' },
  timeout: { reason_code: 'APPROVAL_TIMEOUT', summary: 'Nobody approved this call in time.' },
  unavailable: { reason_code: 'APPROVAL_UNAVAILABLE', summary: 'Nobody could be asked.' },
};

const ABANDONED = {
  reason_code: 'APPROVAL_CANCELLED',
  summary: 'The call was given up before anybody had approved it.',
};

/** Keeps a call until a person has answered. Nothing is counted yet: it is decided again then. */
function holdCall(context: Context, step: Step, decided: DecidedCall): void {
  const { id, read, outcome } = decided;
  const { approval } = outcome.decision;
  if (approval === undefined || id === undefined) throw new Error('this call needs no approval');
  const callId = read.ref.call_id;
  const { nowMs } = step;
  context.asked.agent.add(id.json, {
    method: 'tools/call',
    sinceMs: nowMs,
    call: undefined,
    heldAs: callId,
    settled: false,
  });
  context.held.set(callId, {
    decided,
    id,
    sinceMs: nowMs,
    untilMs: nowMs + approval.timeout_ms,
    progressAtMs: nowMs + context.limits.progressMs,
    progress: 0,
  });
  const { forward } = step;
  const part = forward.do === 'forward' ? forward.bytes : undefined;
  const bytes = part === undefined ? step.bytes : withNewline(part);
  step.out.push({ do: 'hold', callId, approval: wantedFor(decided, approval), bytes });
}

function withNewline(part: Uint8Array): Uint8Array {
  const line = new Uint8Array(part.length + 1);
  line.set(part);
  line[part.length] = 0x0a;
  return line;
}

/** A person, or time, has decided about a held call. */
function resolveHeld(context: Context, step: Step, how: { callId: string; end: HeldEnd }): void {
  const { callId, end } = how;
  const held = context.held.get(callId);
  if (held === undefined) return;
  const again = resolved(context, { held, end, nowMs: step.nowMs });
  const { approval, action } = again.outcome.decision;
  if (end === 'approved' && approval?.wait === 'hold') {
    // Another rule wants a person too: the call goes on waiting, with a patience of its own.
    const untilMs = step.nowMs + approval.timeout_ms;
    context.held.set(callId, { ...held, decided: again, untilMs });
    step.out.push({ do: 'ask', callId, approval: wantedFor(again, approval) });
    return;
  }
  context.held.delete(callId);
  context.asked.agent.take(held.id.json);
  recordDecision(context, step, again);
  if (action !== 'ALLOW') step.out.push({ do: 'discard', callId });
  carryOut(context, { ...step, forward: { do: 'release', callId } }, again);
}

/** Ends a held call that nobody waits for any more. */
function abandonHeld(context: Context, step: Step, callId: string): HeldCall | undefined {
  const held = context.held.get(callId);
  if (held === undefined) return undefined;
  const { decided, id, sinceMs } = held;
  const { rule_id, severity } = decided.outcome.decision;
  const decision: Decision = { action: 'BLOCK', rule_id, severity, ...ABANDONED };
  const outcome = { ...decided.outcome, decision, state: context.state };
  context.held.delete(callId);
  context.asked.agent.take(id.json);
  recordDecision(context, step, { ...decided, outcome });
  emitEnd(step, decided.read.ref, { status: 'CANCELLED', sinceMs, bytesOut: 0 });
  step.out.push({ do: 'discard', callId });
  return held;
}

/**
 * Decides again, so that counters count the call once and at the time it really passes. An answer
 * is for the rule that asked: another rule may still refuse, or want a person of its own.
 */
function resolved(
  context: Context,
  { held, end, nowMs }: { readonly held: HeldCall; readonly end: HeldEnd; readonly nowMs: number },
): DecidedCall {
  const { read, outcome: first, id } = held.decided;
  const asking = first.decision.rule_id ?? '';
  const approved = end === 'approved' ? [...(read.call.approved ?? []), asking] : [];
  const call = end === 'approved' ? withApproved(read.call, approved) : read.call;
  if (read.shared) return sharedEnd(held.decided, end);
  const outcome = decide(context.snapshot, call, context.state, nowMs);
  const { rule_id, severity, approval } = outcome.decision;
  if (end === 'approved' || approval === undefined) return { read: { ...read, call }, outcome, id };
  const decision: Decision = { action: 'BLOCK', rule_id, severity, ...REFUSED[end] };
  return { read, outcome: { ...outcome, decision }, id };
}

/** The hub decided it, and must decide it again before it may pass: then it is a new call. */
function sharedEnd(decided: DecidedCall, end: HeldEnd): DecidedCall {
  const { rule_id, severity } = decided.outcome.decision;
  const why = REFUSED[end === 'approved' ? 'unavailable' : end];
  return {
    ...decided,
    outcome: { ...decided.outcome, decision: { action: 'BLOCK', rule_id, severity, ...why } },
  };
}

function withApproved(call: Call, approved: readonly string[]): Call {
  const { identity, server_name, tool_name, args_hash, bytes_in, args } = call;
  const same = { identity, server_name, tool_name, args_hash, bytes_in };
  return { ...same, approved, ...(args !== undefined && { args }) };
}

/** What time does to held calls: the end of patience, and a sign of life for who waits. */
function tickHeld(context: Context, step: Step): void {
  for (const [callId, held] of [...context.held]) {
    if (step.nowMs >= held.untilMs) {
      resolveHeld(context, step, { callId, end: 'timeout' });
    } else if (held.decided.read.progressToken !== undefined && step.nowMs >= held.progressAtMs) {
      held.progressAtMs = step.nowMs + context.limits.progressMs;
      held.progress++;
      const text = progressLine(held.decided.read.progressToken, held.progress);
      step.out.push({ do: 'answer', to: 'agent', text });
    }
  }
}

export type { HeldCall };
export { abandonHeld, holdCall, resolveHeld, tickHeld };
