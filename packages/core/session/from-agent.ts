// What the agent sends: calls are governed, all else passes.

import { errorLine, exitWords, INTERNAL_ERROR, INVALID_REQUEST } from './answer-lines.ts';
import { applyDecision } from './apply-decision.ts';
import { askForRetry } from './ask-people.ts';
import { governBatch } from './batch.ts';
import { type Context, type MessageStep, type OpenRequest, report } from './context.ts';
import { concludeCall } from './decide-call.ts';
import { abandonHeld, holdCall } from './held-calls.ts';
import { answerOnward, handOn, requestOnward } from './pass-message.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import type { Seen, SeenNotification, SeenRequest, SeenResponse } from './peek/types.ts';
import { readCall, type SeenCall } from './read-call.ts';
import { emitEnd, endUnanswered, recordDecision, recordStart } from './record-call.ts';
import { isUnambiguous, malformed, recordRefused, reject, UNASKED } from './reject-message.ts';

export function fromAgent(context: Context, step: MessageStep, seen: Seen): void {
  switch (seen.kind) {
    case 'request':
      return request(context, step, seen);
    case 'notification':
      return notification(context, step, seen);
    case 'response':
      return response(context, step, seen);
    case 'batch':
      return governBatch(context, step, fromAgent);
    case 'invalid':
      return malformed(context, step, seen);
  }
}

function request(context: Context, step: MessageStep, seen: SeenRequest): void {
  if (!admits(context, step, seen)) return;
  if (seen.method === TOOLS_CALL) return governCall(context, step, seen);
  if (!isUnambiguous(context, step, seen)) return;
  if (context.exit === undefined) passRequest(context, step, seen);
  else answerGone(context, step, seen);
}

/** Answers a request for a server that is no longer there. */
export function answerGone(context: Context, step: MessageStep, { id }: SeenRequest): void {
  const error = { code: INTERNAL_ERROR, message: exitWords(context) };
  step.out.push({ do: 'answer', to: 'agent', text: errorLine(id, error) });
  step.out.push({ do: 'drop', reason: 'no_server' });
}

/** Hands a request on, unless a gate refuses it. */
export function passRequest(context: Context, step: MessageStep, seen: SeenRequest): void {
  const onward = requestOnward(context, step, seen);
  if (onward.kind !== 'refused') openRequest(context, step, seen);
  handOn(context, step, onward);
}

function openRequest(context: Context, step: MessageStep, { id, method }: SeenRequest): void {
  context.requests[step.from].add(id.json, {
    method,
    sinceMs: step.nowMs,
    call: undefined,
    heldAs: undefined,
  });
}

/** Whether the id is free and there is room; what the request says of its version is noted. */
export function admits(context: Context, step: MessageStep, seen: SeenRequest): boolean {
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
      reject(context, step, { ...fault, id, asks: true, code: INVALID_REQUEST, method });
      return false;
    }
    report(step, { what: 'WOULD_REJECT', ...fault });
    giveUp(context, step, open);
  }
  if (agent.makeRoom(step.nowMs)) return true;
  const detail = 'Too many requests are open, or were given up and have no answer yet.';
  const told = { reason: 'too_many_open', detail } as const;
  if (method === TOOLS_CALL) recordRefused(context, step, detail);
  report(step, { what: 'REJECTED', ...told });
  const error = { code: INTERNAL_ERROR, message: detail };
  step.out.push({ do: 'answer', to: 'agent', text: errorLine(id, error) });
  step.out.push({ do: 'drop', reason: 'too_many_open' });
  return false;
}

/** Its id now belongs to another request: no answer can be told to be its own. */
function giveUp(context: Context, step: MessageStep, open: OpenRequest): void {
  if (open.heldAs !== undefined) abandonHeld(context, step, open.heldAs);
  context.requests.agent.take(open.idJson);
  if (open.endedBy !== undefined) return;
  const error = { class: 'unknown', message: 'Its id was used again.' } as const;
  endUnanswered(context, step, { open, status: 'ERROR', error });
}

function notification(context: Context, step: MessageStep, seen: SeenNotification): void {
  if (seen.method === TOOLS_CALL) return governCall(context, step, seen);
  if (!isUnambiguous(context, step, seen)) return;
  if (seen.method === 'notifications/cancelled') cancel(context, step, seen);
  if (context.exit !== undefined) {
    step.out.push({ do: 'drop', reason: 'no_server' });
    return;
  }
  handOn(context, step, requestOnward(context, step, seen));
}

/** The agent no longer waits: the call has ended, though a late answer may still pass. */
function cancel(context: Context, step: MessageStep, { params }: SeenNotification): void {
  const id = params.requestId?.json ?? '';
  const open = context.requests.agent.get(id);
  if (open === undefined || open.endedBy !== undefined) return;
  if (open.heldAs !== undefined) {
    abandonHeld(context, step, open.heldAs);
    return;
  }
  context.requests.agent.end(open, 'cancelled', step.nowMs);
  if (open.call === undefined) return;
  // Gates hear of its end when the server answers: giving up is no success of the server.
  const { sinceMs } = open;
  emitEnd(step, open.call.ref, { status: 'CANCELLED', sinceMs, bytesOut: 0 });
}

function response(context: Context, step: MessageStep, seen: SeenResponse): void {
  // An error about nothing in particular answers nobody, and harms nobody.
  const open = seen.id && context.requests.server.take(seen.id.json);
  if (seen.id !== undefined && open === undefined) {
    const detail = 'The agent answered a request that the server has not made, or not any more.';
    return reject(context, step, { ...UNASKED, reason: 'unsolicited_answer', detail });
  }
  if (context.exit === undefined)
    handOn(context, step, answerOnward(context, step, { seen, open }));
  else step.out.push({ do: 'drop', reason: 'no_server' });
}

/** Decides a call and carries the decision out. */
function governCall(context: Context, step: MessageStep, seen: SeenCall): void {
  const id = seen.kind === 'request' ? seen.id : undefined;
  const read = readCall(context, step, seen);
  const decided = { ...concludeCall(context, step, read), id };
  const { approval } = decided.outcome.decision;
  recordStart(context, step, decided);
  if (approval?.wait === 'hold' && id !== undefined) return holdCall(context, step, decided);
  const told = approval === undefined ? decided : askForRetry(context, step, decided);
  recordDecision(context, step, told);
  applyDecision(context, step, told);
}
