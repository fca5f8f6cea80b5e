// Requests that no rule sees and a gate refuses: they are recorded and answered as refused calls are.
import { subjectOf } from '../policy/model/subjects.ts';
import { applyDecision } from './apply-decision.ts';
import { type MessageStep, nextSeq, sizeOf } from './context.ts';
import { decisionOn } from './decide-call.ts';
import { readSubject } from './govern-subject.ts';
import type { Onward } from './pass-message.ts';
import type { SeenRequest } from './peek/types.ts';
import { type ReadCall, readToolName, unreadCall } from './read-call.ts';
import { recordDecision, recordStart } from './record-call.ts';
import { rejectedHash } from './reject-message.ts';

export function refuseRequest(
  step: MessageStep,
  seen: SeenRequest,
  { why, note: content }: Extract<Onward, { kind: 'refused' }>,
): void {
  const { state } = step.context;
  const outcome = { decision: decisionOn(why), content, state, trace: [], risk_class: [] };
  const decided = { read: readRefused(step, seen), id: seen.id, outcome };
  recordStart(step, decided);
  recordDecision(step, decided);
  applyDecision(step, decided);
}

/** The request as a call; its params are not kept, unless it asks for a resource or a prompt. */
function readRefused(step: MessageStep, seen: SeenRequest): ReadCall {
  const { context, bytes, unseen, bytesTotal } = step;
  const { method } = seen;
  const subject = subjectOf(method);
  if (subject !== undefined && unseen === undefined) {
    return { ...readSubject(step, seen), fault: undefined, shared: false };
  }
  const { tool_name: tool } = readToolName(method);
  const args_hash = unseen?.streamHash ?? rejectedHash(context, bytes);
  const read = unreadCall(context, { tool, args_hash, bytes_in: bytesTotal ?? sizeOf(bytes) });
  const call = { ...read.call, subject };
  return { ...read, call, seq: nextSeq(context), fault: undefined, shared: false };
}
