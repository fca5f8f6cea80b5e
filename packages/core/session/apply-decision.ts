// Step 4 of a call: what may pass is forwarded, what may not is answered.

import { spliced } from '../json/patch-text.ts';
import type { Call } from '../policy/index.ts';
import {
  errorLine,
  exitWords,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  refusalLine,
} from './answer-lines.ts';
import { type Context, eraOf, type MessageStep, report } from './context.ts';
import type { DecidedCall } from './decide-call.ts';
import { emitEnd, NOT_INSPECTED, withoutSecrets } from './record-call.ts';

/** Forwards what may pass, answers what may not. */
export function applyDecision(context: Context, step: MessageStep, decided: DecidedCall): void {
  if (decided.outcome.decision.action !== 'ALLOW') return refuse(context, step, decided);
  if (context.exit !== undefined) return answerGone(context, step, decided);
  const { id, read, outcome } = decided;
  const { ref, call } = read;
  // Whether or not anybody waits for its answer: now it counts.
  if (outcome.gated !== undefined) context.guard?.passed(outcome.gated.call, step.nowMs);
  if (id === undefined) {
    // Nobody will answer, so this is all there is to know. It is no success of the server.
    emitEnd(step, ref, { status: 'OK', sinceMs: step.nowMs, bytesOut: 0 });
  } else {
    context.requests.agent.add(id.json, {
      method: 'tools/call',
      sinceMs: step.nowMs,
      call: { ref, call: slim(call), trace: outcome.trace, shared: read.shared },
      heldAs: undefined,
    });
  }
  pass(step, decided);
}

/** Lets a call pass as it was written, or with what a gate has put in place of its arguments. */
function pass(step: MessageStep, { read, outcome }: DecidedCall): void {
  const { bytes, forward, out } = step;
  const text = outcome.gated?.argsText;
  if (text === undefined) {
    out.push(forward);
    return;
  }
  if (read.argsRange === undefined) throw new Error('arguments that were not read are replaced');
  const line = spliced(bytes, read.argsRange, text);
  if (forward.do === 'release')
    out.push({ do: 'hold', callId: forward.callId, bytes: line }, forward);
  else out.push({ do: 'forward', to: 'server', bytes: line });
}

/** Without the arguments: an open call should not hold them. */
function slim({ identity, server_name, tool_name, args_hash, bytes_in }: Call): Call {
  return { identity, server_name, tool_name, args_hash, bytes_in };
}

function refuse(context: Context, step: MessageStep, decided: DecidedCall): void {
  const { id, read, outcome } = decided;
  const { ref, fault, version } = read;
  const { decision } = outcome;
  const { snapshot, config } = context;
  const text =
    id === undefined
      ? ''
      : refusalLine({
          id,
          decision: withoutSecrets(context, decision),
          call: { ...ref, run_id: config.identity.run_id },
          policy: snapshot.ref,
          era: eraOf(version),
          delivery: snapshot.document.hint_delivery,
          ...(fault !== undefined && { code: INVALID_PARAMS }),
        });
  const error = { class: 'policy_block', message: context.redact(decision.summary) } as const;
  const bytesOut = Math.max(0, text.length - 1);
  // What it looked like is in the decision; a preview of our own words tells nothing.
  const preview = NOT_INSPECTED;
  emitEnd(step, ref, { status: 'ERROR', sinceMs: step.nowMs, bytesOut, preview, error });
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

/** An allowed call for a server that is no longer there. */
function answerGone(context: Context, step: MessageStep, { id, read }: DecidedCall): void {
  const message = exitWords(context);
  const error = { class: 'transport', message } as const;
  context.counts.errors++;
  emitEnd(step, read.ref, { status: 'ERROR', sinceMs: step.nowMs, bytesOut: 0, error });
  if (id !== undefined) {
    const text = errorLine(id, { code: INTERNAL_ERROR, message });
    step.out.push({ do: 'answer', to: 'agent', text });
  }
  step.out.push({ do: 'drop', reason: 'no_server' });
}
