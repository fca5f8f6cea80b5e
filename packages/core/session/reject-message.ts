// Messages that cannot be decided: they are answered or dropped, and recorded like any other.

import { canonicalize } from '../json/index.ts';
import { memberRange } from '../json/member-ranges.ts';
import {
  errorLine,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  PARSE_ERROR,
} from './answer-lines.ts';
import { type Context, type MessageStep, nextSeq, report, sizeOf } from './context.ts';
import { outcomeOf } from './decide-call.ts';
import { wayFrom } from './pass-message.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import {
  INVALID_WORDS,
  type MessageId,
  type SeenInvalid,
  type SeenNotification,
  type SeenRequest,
} from './peek/types.ts';
import { type ReadCall, unreadCall } from './read-call.ts';
import { emitEnd, endUnanswered, recordDecision, recordStart } from './record-call.ts';
import type { ReportReason } from './types.ts';

export interface Rejection {
  readonly reason: ReportReason;
  readonly detail: string;
  readonly id: MessageId | undefined;
  /** Whether its sender waits for an answer. */
  readonly asks: boolean;
  readonly code: number;
  readonly offset?: number;
  /** It does not pass in any profile. */
  readonly always?: boolean;
  /** Its method; a message without one may have been a call. */
  readonly method?: string | undefined;
  /** Its call is on record already. */
  readonly recorded?: boolean;
}

type Malformed = SeenInvalid & { readonly recorded?: boolean };

/** For a message whose sender waits for no answer. */
export const UNASKED = { id: undefined, asks: false, code: INVALID_REQUEST } as const;

/** Rejects a line that is not valid. Development lets it pass and reports what production would do. */
export function malformed(step: MessageStep, seen: Malformed): void {
  const { reason, offset, id, asks, method, recorded = false } = seen;
  const side = step.from === 'agent' ? 'the agent' : 'the server';
  const detail = `A line from ${side} was refused: ${INVALID_WORDS[reason]}.`;
  const unreadable = reason === 'json' || reason === 'utf8' || reason === 'depth';
  const code = unreadable ? PARSE_ERROR : INVALID_REQUEST;
  reject(step, { reason, detail, id, asks, code, offset, method, recorded });
}

/** Answers a message if its sender waits, drops it otherwise, and reports it in any case. */
export function reject(step: MessageStep, fault: Rejection): void {
  const { reason, detail, offset, id } = fault;
  const waits = step.from === 'agent' ? agentWaits(step.context, fault) : settleBroken(step, fault);
  if (mayBeCall(step, fault)) recordRefused(step, fault.detail);
  if (!step.context.enforcing && fault.always !== true && !isBarred(step)) {
    report(step, { what: waits ? 'WOULD_REJECT' : 'WOULD_DROP', reason, detail }, offset);
    step.out.push(step.forward);
    return;
  }
  report(step, { what: waits ? 'REJECTED' : 'DROPPED', reason, detail }, offset);
  if (waits && id !== undefined) {
    const code = step.from === 'agent' ? fault.code : INTERNAL_ERROR;
    step.out.push({ do: 'answer', to: 'agent', text: errorLine(id, { code, message: detail }) });
  }
  step.out.push({ do: 'drop', reason });
}

/** Whether a gate keeps this line back although nothing is enforced, because it holds a secret. */
function isBarred(step: MessageStep): boolean {
  const { guard, decode } = step.context;
  // A message that is too large to inspect was judged at its head.
  if (guard?.around === undefined || step.unseen !== undefined) return false;
  const { bytes, from, nowMs } = step;
  // A decoder may leave out bytes that are not UTF-8.
  const written = `${decode(bytes, 0, bytes.length)} ${unitsOf(bytes)}`;
  const envelope = { written, method: '', rest: undefined };
  return guard.around(wayFrom(from), envelope, nowMs).kind !== 'same';
}

/** Whether a message must be recorded as a call: otherwise an agent could hide a refused one. */
function mayBeCall({ from }: MessageStep, { asks, method, recorded, reason }: Rejection): boolean {
  if (from !== 'agent' || !asks || recorded === true || reason === 'unsolicited_answer')
    return false;
  return method === undefined || method === TOOLS_CALL;
}

function agentWaits(context: Context, { id, asks, reason }: Rejection): boolean {
  if (id === undefined || !asks) return false;
  const open = context.requests.agent.get(id.json);
  // The agent would take this answer for that of its open request with the same id.
  return open === undefined || open.endedBy !== undefined || reason === 'id_in_use';
}

/** Ends the request of a broken answer; true when the agent still waits and must get an error. */
function settleBroken(step: MessageStep, { id, asks, detail }: Rejection): boolean {
  if (id === undefined || asks) return false;
  const { agent } = step.context.requests;
  const open = agent.get(id.json);
  if (open === undefined || open.heldAs !== undefined) return false;
  agent.take(id.json);
  if (open.endedBy !== undefined) return false;
  const error = { class: 'transport', message: detail } as const;
  endUnanswered(step, open, { status: 'ERROR', error });
  return true;
}

/** The tool of a call that could not be read. */
export const UNREADABLE = '(unreadable)';
/** Enough to tell two messages apart, and quick to hash. */
const HASHED_BYTES_MAX = 65_536;

/** Records a message that may have been a call, and why it did not pass. */
export function recordRefused(step: MessageStep, why: string): void {
  const { context, bytes, bytesTotal } = step;
  const args_hash = rejectedHash(context, bytes);
  const bytes_in = bytesTotal ?? sizeOf(bytes);
  const read = unreadCall(context, { tool: UNREADABLE, args_hash, bytes_in });
  recordEnded(step, { ...read, seq: nextSeq(context), fault: why, shared: false });
}

/** Records the start, the refusal and the end of a call that could not be decided. */
export function recordEnded(step: MessageStep, read: ReadCall): void {
  const decided = { read, outcome: outcomeOf(step, read), id: undefined };
  recordStart(step, decided);
  recordDecision(step, decided);
  const error = { class: 'policy_block', message: read.fault ?? '' } as const;
  emitEnd(step, read.ref, { status: 'ERROR', sinceMs: step.nowMs, bytesOut: 0, error });
}

/** The hash of the first bytes, for arguments that were not read. */
export function rejectedHash({ config }: Context, bytes: Uint8Array): string {
  const seen = bytes.subarray(0, HASHED_BYTES_MAX);
  return config.sha256Bytes?.(seen) ?? config.sha256(unitsOf(seen));
}

/** The bytes as a text, with one character per byte. */
function unitsOf(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 1_024) {
    text += String.fromCharCode(...bytes.subarray(at, at + 1_024));
  }
  return text;
}

// Requests that are no tool call and that name something: all readers must see the same one.

const NAMING_METHOD = /^(?:prompts\/get|completion\/complete|resources\/.*)$/;
const DETAIL_LENGTH_MAX = 200;

/** What is ambiguous in the params of such a request; past a fault, nothing is known of them. */
function ambiguityIn(
  { context, bytes }: MessageStep,
  method: string,
): Pick<Rejection, 'reason' | 'detail'> | undefined {
  if (!NAMING_METHOD.test(method)) return undefined;
  const range = memberRange(bytes, 'params');
  if (range === undefined) return undefined;
  const text = context.decode(bytes, range.start, range.end);
  const read = canonicalize(text, { foldsKeys: true });
  if (read.ok) return undefined;
  const reason = read.code === 'SUB_CANON_DUPLICATE_KEY' ? 'duplicate_key' : 'params';
  const detail = context.redact(`Invalid params: ${read.message}.`).slice(0, DETAIL_LENGTH_MAX);
  return { reason, detail };
}

/** Whether a message means the same to every reader; otherwise it is rejected. */
export function isUnambiguous(step: MessageStep, seen: SeenRequest | SeenNotification): boolean {
  const { method } = seen;
  const fault = ambiguityIn(step, method);
  if (fault === undefined) return true;
  if (!step.context.enforcing) {
    report(step, { what: 'WOULD_REJECT', ...fault });
    return true;
  }
  const id = seen.kind === 'request' ? seen.id : undefined;
  reject(step, { ...fault, id, asks: true, code: INVALID_PARAMS, method });
  return false;
}
