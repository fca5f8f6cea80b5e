// What becomes of a decided call: on record first, then forwarded or refused.
import type { CallRef } from '@subluminal/contracts';
import { policiesIn } from '../policy/compile/snapshot.ts';
import type { Call } from '../policy/index.ts';
import { errorLine, INTERNAL_ERROR, INVALID_PARAMS, refusalLine } from './answers.ts';
import { type Context, eraOf, report, type Step } from './context.ts';
import type { LazyEnvelope } from './envelope.ts';
import { emitApproval, emitDecision, emitEnd, emitStart, withoutSecrets } from './events.ts';
import { exitWords } from './exit-words.ts';
import type { Judgement } from './gates.ts';
import type { MessageId, Range } from './peek/types.ts';
import { NOT_INSPECTED, type Preview } from './preview.ts';
import { spliced } from './rewrite.ts';
import type { TakenGrant } from './types.ts';

/** A call that has been read, before anything is decided. */
export interface ReadCall {
  readonly call: Call;
  readonly ref: CallRef;
  readonly seq: number;
  readonly preview: Preview;
  /** Why it cannot be decided on: it is not a well-formed call. */
  readonly fault: string | undefined;
  /** The JSON of the token for progress, if the caller wants to hear of it. */
  readonly progressToken: string | undefined;
  readonly version: string | undefined;
  readonly streamHash?: string;
  /** Where the arguments stand in the message, if they were read and there are any. */
  readonly argsRange?: Range | undefined;
  /** What stands there, whichever step asks: a held call is decided in a later one. */
  readonly argsText?: (() => string) | undefined;
  readonly argsBytes?: (() => Uint8Array) | undefined;
  /** What stands around the arguments, if it was read. */
  readonly envelope?: LazyEnvelope | undefined;
  /** The hub decides it. */
  readonly shared: boolean;
}

export interface DecidedCall {
  readonly read: ReadCall;
  readonly outcome: Judgement;
  /** Absent when nobody waits for an answer. */
  readonly id: MessageId | undefined;
  /** The grants that it has used. */
  readonly taken?: readonly TakenGrant[];
}

/** Puts a call on record, before anything happens to it. */
export function recordStart(context: Context, step: Step, { read, outcome }: DecidedCall): void {
  context.counts.total++;
  const { content, risk_class: riskClass } = outcome;
  // What must not travel must not be kept either.
  const isKept = content === undefined || content.action === 'tag';
  const shown = isKept ? read : { ...read, preview: NOT_INSPECTED };
  emitStart(context, step, { read: shown, riskClass });
}

/** Adopts a decision and puts it on record, before it is carried out. */
export function recordDecision(context: Context, step: Step, decided: DecidedCall): void {
  const { counts } = context;
  const { decision, state } = decided.outcome;
  context.state = state;
  emitGrants(context, step, decided);
  emitDecision(context, step, { ref: decided.read.ref, outcome: decided.outcome });
  context.config.decided?.(decided.read.ref, decision, decided.id?.json);
  if (decision.action === 'ALLOW') counts.allowed++;
  else if (decision.action === 'THROTTLE') counts.throttled++;
  else counts.blocked++;
  const { would } = decision;
  if (decision.action === 'ALLOW' && would !== undefined && would.action !== 'ALLOW') {
    counts.spared++;
  }
}

/** Why a call passes that a rule wanted a person for: a grant, or the development profile. */
function emitGrants(context: Context, step: Step, decided: DecidedCall): void {
  const { taken = [], read, outcome } = decided;
  for (const grant of taken) emitApproval(step, read.ref, { ...grant, state: 'approved' });
  const { would } = outcome.decision;
  if (would === undefined || context.enforcing) return;
  if (!policiesIn(context.snapshot).some(({ document }) => document.mode === 'control')) return;
  const asks = outcome.trace.some(
    ({ kind, outcome: said, rule_id }) =>
      kind === 'approval' && said === 'asks' && rule_id === would.rule_id,
  );
  if (!asks || would.rule_id === null) return;
  emitApproval(step, read.ref, { rule_id: would.rule_id, state: 'auto_approved' });
}

/** Forwards what may pass, answers what may not. */
export function applyDecision(context: Context, step: Step, decided: DecidedCall): void {
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
    context.asked.agent.add(id.json, {
      method: 'tools/call',
      sinceMs: step.nowMs,
      call: { ref, call: slim(call), trace: outcome.trace, shared: read.shared },
      heldAs: undefined,
    });
  }
  pass(step, decided);
}

/** Lets a call pass as it was written, or with what a gate has put in place of its arguments. */
function pass(step: Step, { read, outcome }: DecidedCall): void {
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

function refuse(context: Context, step: Step, decided: DecidedCall): void {
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
function answerGone(context: Context, step: Step, { id, read }: DecidedCall): void {
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
