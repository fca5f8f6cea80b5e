// Messages of the agent: tool calls are governed, everything else passes unless a gate refuses it.

import { errorLine, INTERNAL_ERROR, INVALID_REQUEST } from './answer-lines.ts';
import { answerWithoutServer, applyDecision } from './apply-decision.ts';
import { askForRetry } from './ask-people.ts';
import { governBatch } from './batch.ts';
import { type MessageStep, type OpenRequest, report } from './context.ts';
import { concludeCall, type DecidedCall } from './decide-call.ts';
import { governedSubject, readSubject } from './govern-subject.ts';
import { abandonHeld, holdCall } from './held-calls.ts';
import { answerOnward, handOn, requestOnward } from './pass-message.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import type { MessageId, Seen, SeenNotification, SeenRequest, SeenResponse } from './peek/types.ts';
import { type ReadCall, readCall, type SeenCall } from './read-call.ts';
import { emitEnd, endUnanswered, recordDecision, recordStart } from './record-call.ts';
import { refuseRequest } from './refuse-request.ts';
import { isUnambiguous, malformed, recordRefused, reject, UNASKED } from './reject-message.ts';

export function fromAgent(step: MessageStep, seen: Seen): void {
  switch (seen.kind) {
    case 'request':
      return request(step, seen);
    case 'notification':
      return notification(step, seen);
    case 'response':
      return response(step, seen);
    case 'batch':
      return governBatch(step, fromAgent);
    case 'invalid':
      return malformed(step, seen);
  }
}

function request(step: MessageStep, seen: SeenRequest): void {
  if (!admits(step, seen)) return;
  if (seen.method === TOOLS_CALL) return governCall(step, seen);
  if (isGoverned(step, seen)) return governRead(step, readSubject(step, seen), seen.id);
  if (!isUnambiguous(step, seen)) return;
  if (step.context.exit === undefined) passRequest(step, seen);
  else answerWithoutServer(step, seen.id);
}

/** Passes a request on, unless a gate refuses it; one of the agent is then recorded as a refused call. */
export function passRequest(step: MessageStep, seen: SeenRequest): void {
  const onward = requestOnward(step, seen);
  const { id, method } = seen;
  if (onward.kind !== 'refused') {
    const { taskId } = seen.params;
    const opened = { method, sinceMs: step.nowMs, call: undefined, heldAs: undefined, taskId };
    step.context.requests[step.from].add(id.json, opened);
  } else if (step.from === 'agent' && method !== TOOLS_CALL) {
    // A call that comes here is on record already.
    return refuseRequest(step, seen, onward);
  }
  handOn(step, onward);
}

/** Whether the id is free and there is room; notes the protocol version that the request names. */
export function admits(step: MessageStep, seen: SeenRequest): boolean {
  const { context } = step;
  const { id, method, params } = seen;
  const version =
    params.metaVersion ?? (method === 'initialize' ? params.protocolVersion : undefined);
  if (version !== undefined) context.version = version;
  const { agent } = context.requests;
  const open = agent.get(id.json);
  if (open !== undefined) {
    const detail =
      open.endedBy === undefined
        ? 'A request uses an id whose first request is still open.'
        : 'A request uses an id whose first request was given up and has no answer yet. Use a new id.';
    const fault = { reason: 'id_in_use', detail } as const;
    if (context.enforcing) {
      reject(step, { ...fault, id, asks: true, code: INVALID_REQUEST, method });
      return false;
    }
    report(step, { what: 'WOULD_REJECT', ...fault });
    giveUp(step, open);
  }
  if (agent.makeRoom(step.nowMs)) return true;
  const detail = 'Too many requests are open, or were given up and have no answer yet.';
  if (method === TOOLS_CALL) recordRefused(step, detail);
  report(step, { what: 'REJECTED', reason: 'too_many_open', detail });
  const error = { code: INTERNAL_ERROR, message: detail };
  step.out.push({ do: 'answer', to: 'agent', text: errorLine(id, error) });
  step.out.push({ do: 'drop', reason: 'too_many_open' });
  return false;
}

/** Gives up a request whose id another request uses now: no answer can be matched with it. */
function giveUp(step: MessageStep, open: OpenRequest): void {
  if (open.heldAs !== undefined) abandonHeld(step, open.heldAs);
  step.context.requests.agent.take(open.idJson);
  if (open.endedBy !== undefined) return;
  const error = { class: 'unknown', message: 'Its id was used again.' } as const;
  endUnanswered(step, open, { status: 'ERROR', error });
}

function notification(step: MessageStep, seen: SeenNotification): void {
  if (seen.method === TOOLS_CALL) return governCall(step, seen);
  if (isGoverned(step, seen)) return governRead(step, readSubject(step, seen), undefined);
  if (!isUnambiguous(step, seen)) return;
  if (seen.method === 'notifications/cancelled') cancel(step, seen);
  if (step.context.exit !== undefined) {
    step.out.push({ do: 'drop', reason: 'no_server' });
    return;
  }
  handOn(step, requestOnward(step, seen));
}

/** The agent cancels a request: the call has ended, though a late answer may still pass. */
function cancel(step: MessageStep, { params }: SeenNotification): void {
  const { agent } = step.context.requests;
  const open = agent.get(params.requestId?.json ?? '');
  if (open === undefined || open.endedBy !== undefined) return;
  if (open.heldAs !== undefined) return abandonHeld(step, open.heldAs);
  agent.end(open, 'cancelled', step.nowMs);
  if (open.call === undefined) return;
  // The gates learn of its end when the server answers: a cancelled call is no success of the server.
  const { sinceMs } = open;
  emitEnd(step, open.call.ref, { status: 'CANCELLED', sinceMs, bytesOut: 0 });
}

function response(step: MessageStep, seen: SeenResponse): void {
  // An error without an id answers no request, and does no harm.
  const open = seen.id && step.context.requests.server.take(seen.id.json);
  if (seen.id !== undefined && open === undefined) {
    const detail = 'The agent answered a request that the server has not made, or not any more.';
    return reject(step, { ...UNASKED, reason: 'unsolicited_answer', detail });
  }
  if (step.context.exit === undefined) handOn(step, answerOnward(step, seen, open));
  else step.out.push({ do: 'drop', reason: 'no_server' });
}

/** Decides a call, records the decision and applies it. */
function governCall(step: MessageStep, seen: SeenCall): void {
  governRead(step, readCall(step, seen), seen.kind === 'request' ? seen.id : undefined);
}

/** Whether rules see this request; one that is too large to inspect was refused at its head. */
function isGoverned({ context, unseen }: MessageStep, { method }: SeenCall): boolean {
  return unseen === undefined && governedSubject(context, method) !== undefined;
}

function governRead(step: MessageStep, read: ReadCall, id: MessageId | undefined): void {
  const decided = concludeCall(step, { read, id });
  recordStart(step, decided);
  if (decided.outcome.decision.approval?.wait === 'hold' && id !== undefined) {
    return holdCall(step, decided);
  }
  finishCall(step, decided);
}

/** Records and applies a decision; a call that needs an approval may be tried again. */
export function finishCall(step: MessageStep, decided: DecidedCall): void {
  const { approval } = decided.outcome.decision;
  const final = approval === undefined ? decided : askForRetry(step, decided);
  recordDecision(step, final);
  applyDecision(step, final);
}
