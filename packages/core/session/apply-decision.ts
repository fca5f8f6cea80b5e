// An allowed call is forwarded, a refused one is answered.

import { refusal } from '@subluminal/contracts';
import { spliced } from '../json/patch-text.ts';
import type { Call } from '../policy/index.ts';
import {
  errorLine,
  exitWords,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  resultLine,
} from './answer-lines.ts';
import { type MessageStep, report } from './context.ts';
import type { DecidedCall } from './decide-call.ts';
import { passSubject } from './govern-subject.ts';
import type { MessageId } from './peek/types.ts';
import { emitEnd, NOT_INSPECTED, withoutSecrets } from './record-call.ts';
import { eraOf } from './versions.ts';

/** Forwards an allowed call, and answers a refused one. */
export function applyDecision(step: MessageStep, decided: DecidedCall): void {
  const { context, nowMs } = step;
  const { id, read, outcome } = decided;
  if (outcome.decision.action !== 'ALLOW') return refuse(step, decided);
  if (context.exit !== undefined) return refuseWithoutServer(step, decided);
  const { ref, call } = read;
  if (call.subject !== undefined) return passSubject(step, decided);
  // It counts whether or not anybody waits for its answer.
  if (outcome.gated !== undefined) context.guard?.passed(outcome.gated.call, nowMs);
  if (id === undefined) {
    // The server does not answer a notification, so its end is recorded now, as no success of the server.
    emitEnd(step, ref, { status: 'OK', sinceMs: nowMs, bytesOut: 0 });
  } else {
    context.requests.agent.add(id.json, {
      method: 'tools/call',
      sinceMs: nowMs,
      call: { ref, call: withoutArgs(call), trace: outcome.trace, shared: read.shared },
      heldAs: undefined,
    });
  }
  const argsText = outcome.gated?.argsText;
  if (argsText === undefined) {
    step.out.push(step.forward);
    return;
  }
  if (read.argsRange === undefined) throw new Error('arguments that were not read are replaced');
  const bytes = spliced(step.bytes, read.argsRange, context.encode(argsText));
  step.out.push({ do: 'forward', to: 'server', bytes });
}

/** An open call does not keep its arguments. */
function withoutArgs({ identity, server_name, tool_name, args_hash, bytes_in }: Call): Call {
  return { identity, server_name, tool_name, args_hash, bytes_in };
}

function refuse(step: MessageStep, decided: DecidedCall): void {
  const { id, read, outcome } = decided;
  const { decision } = outcome;
  const text = id === undefined ? '' : refusalLine(step, id, decided);
  const error = { class: 'policy_block', message: step.context.redact(decision.summary) } as const;
  const bytesOut = Math.max(0, text.length - 1);
  // The decision is on record, so a preview of our own answer adds nothing.
  const preview = NOT_INSPECTED;
  emitEnd(step, read.ref, { status: 'ERROR', sinceMs: step.nowMs, bytesOut, preview, error });
  if (id === undefined) {
    const detail = 'A refused call has no id, so there is nobody to answer.';
    report(step, { what: 'DROPPED', reason: 'call_without_id', detail });
  } else {
    step.out.push({ do: 'answer', to: 'agent', text });
  }
  step.out.push({ do: 'drop', reason: 'refused' });
  if (decision.terminate !== undefined) {
    const { terminate_code: code, terminate_message: message } = decision.terminate;
    step.out.push({ do: 'terminate', code, message });
  }
}

/** The answer to a refused call: an error, or a result that the model gets to see. */
function refusalLine(
  { context }: MessageStep,
  id: MessageId,
  { read, outcome }: DecidedCall,
): string {
  const { config, snapshot } = context;
  const era = eraOf(read.version);
  const decision = withoutSecrets(context, outcome.decision);
  const call = { ...read.ref, run_id: config.identity.run_id };
  const error = refusal({ decision, call, policy: snapshot.ref, era });
  if (read.fault !== undefined) return errorLine(id, { ...error, code: INVALID_PARAMS });
  // Only the answer to a tool call has a place for a result that is an error.
  const isTool = read.call.subject === undefined;
  if (snapshot.document.hint_delivery !== 'tool_result' || !isTool) return errorLine(id, error);
  return resultLine(id, { text: error.message, era, meta: error.data });
}

/** Records the end of an allowed call whose server is gone, and answers it. */
function refuseWithoutServer(step: MessageStep, { id, read }: DecidedCall): void {
  const error = { class: 'transport', message: exitWords(step.context) } as const;
  step.context.counts.errors++;
  emitEnd(step, read.ref, { status: 'ERROR', sinceMs: step.nowMs, bytesOut: 0, error });
  answerWithoutServer(step, id);
}

/** Answers a request for a server that is gone. */
export function answerWithoutServer(step: MessageStep, id: MessageId | undefined): void {
  if (id !== undefined) {
    const text = errorLine(id, { code: INTERNAL_ERROR, message: exitWords(step.context) });
    step.out.push({ do: 'answer', to: 'agent', text });
  }
  step.out.push({ do: 'drop', reason: 'no_server' });
}
