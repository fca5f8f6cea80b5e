// Messages that nobody could decide on: they are answered or dropped, and on record like any other.

import { canonicalize } from '../json/index.ts';
import { memberRange } from '../json/member-ranges.ts';
import {
  errorLine,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  PARSE_ERROR,
} from './answer-lines.ts';
import { type Context, type MessageStep, report, sizeOf } from './context.ts';
import { outcomeOf } from './decide-call.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import {
  INVALID_WORDS,
  type MessageId,
  type SeenInvalid,
  type SeenNotification,
  type SeenRequest,
} from './peek/types.ts';
import type { ReadCall } from './read-call.ts';
import {
  emitEnd,
  endUnanswered,
  NOT_INSPECTED,
  recordDecision,
  recordStart,
} from './record-call.ts';
import type { ReportReason } from './types.ts';

export interface Rejection {
  readonly reason: ReportReason;
  readonly detail: string;
  readonly id: MessageId | undefined;
  /** Whether somebody waits for an answer to it. */
  readonly asks: boolean;
  readonly code: number;
  readonly offset?: number;
  /** Whatever the profile: this cannot pass. */
  readonly always?: boolean;
  /** Its method; without one it may have been a call. */
  readonly method?: string | undefined;
  /** The call that it was is on record already. */
  readonly recorded?: boolean;
}

type Malformed = SeenInvalid & { readonly recorded?: boolean };

/** A message that nobody waits for an answer to. */
export const UNASKED = { id: undefined, asks: false, code: INVALID_REQUEST } as const;

/** A line that is not valid. Development lets it pass and says what production would do. */
export function malformed(context: Context, step: MessageStep, seen: Malformed): void {
  const { reason, offset, id, asks, method, recorded = false } = seen;
  const side = step.from === 'agent' ? 'the agent' : 'the server';
  const detail = `A line from ${side} was refused: ${INVALID_WORDS[reason]}.`;
  const unreadable = reason === 'json' || reason === 'utf8' || reason === 'depth';
  const code = unreadable ? PARSE_ERROR : INVALID_REQUEST;
  reject(context, step, { reason, detail, id, asks, code, offset, method, recorded });
}

/** Answers a message where somebody waits, drops it otherwise, and tells of it in any case. */
export function reject(context: Context, step: MessageStep, fault: Rejection): void {
  const { reason, detail, offset } = fault;
  const waits =
    step.from === 'agent' ? agentWaits(context, fault) : settleBroken(context, step, fault);
  if (mayBeCall(step, fault)) recordRefused(context, step, fault.detail);
  if (!context.enforcing && fault.always !== true && !isBarred(context, step)) {
    report(step, { what: waits ? 'WOULD_REJECT' : 'WOULD_DROP', reason, detail }, offset);
    step.out.push(step.forward);
    return;
  }
  report(step, { what: waits ? 'REJECTED' : 'DROPPED', reason, detail }, offset);
  if (waits && fault.id !== undefined) {
    const code = step.from === 'agent' ? fault.code : INTERNAL_ERROR;
    const text = errorLine(fault.id, { code, message: detail });
    step.out.push({ do: 'answer', to: 'agent', text });
  }
  step.out.push({ do: 'drop', reason });
}

/** Whether a gate keeps back this line although nothing is enforced: it holds a secret. */
function isBarred({ guard, decode }: Context, step: MessageStep): boolean {
  // What is too large to be seen was swallowed or not at its head.
  if (guard?.around === undefined || step.unseen !== undefined) return false;
  const { bytes, from, nowMs } = step;
  // It may be no UTF-8, and then a decoder leaves out what it likes.
  const written = `${decode(bytes, 0, bytes.length)} ${unitsOf(bytes)}`;
  const envelope = { written, method: '', rest: undefined };
  return guard.around(from === 'agent' ? 'out' : 'in', envelope, nowMs).kind !== 'same';
}

/** Whatever cannot be told from a call is one, for the record: else it would hide a refusal. */
function mayBeCall({ from }: MessageStep, { asks, method, recorded, reason }: Rejection): boolean {
  if (from !== 'agent' || !asks || recorded === true || reason === 'unsolicited_answer')
    return false;
  return method === undefined || method === TOOLS_CALL;
}

function agentWaits(context: Context, { id, asks, reason }: Rejection): boolean {
  if (id === undefined || !asks) return false;
  const open = context.requests.agent.get(id.json);
  // An answer to a request that is still open would be taken for its own.
  return open === undefined || open.endedBy !== undefined || reason === 'id_in_use';
}

/** Ends the request of a broken answer; true when the agent still waits and must be told. */
function settleBroken(
  context: Context,
  step: MessageStep,
  { id, asks, detail }: Rejection,
): boolean {
  if (id === undefined || asks) return false;
  const open = context.requests.agent.get(id.json);
  if (open === undefined || open.heldAs !== undefined) return false;
  context.requests.agent.take(id.json);
  if (open.endedBy !== undefined) return false;
  const error = { class: 'transport', message: detail } as const;
  endUnanswered(context, step, { open, status: 'ERROR', error });
  return true;
}

/** The tool of a call that could not be read. */
export const UNREADABLE = '(unreadable)';
/** Enough to tell two of them apart, and quick to hash. */
const HASHED_BYTES_MAX = 65_536;

/** Puts a message on record that may have been a call, and why it did not pass. */
export function recordRefused(context: Context, step: MessageStep, why: string): void {
  const { config, version } = context;
  const { identity, serverName: server_name } = config;
  const args_hash = rejectedHash(context, step.bytes);
  const bytes_in = step.bytesTotal ?? sizeOf(step.bytes);
  const ref = { call_id: config.callId(), server_name, tool_name: UNREADABLE, args_hash };
  const read: ReadCall = {
    call: { identity, server_name, tool_name: UNREADABLE, args_hash, bytes_in },
    ref,
    seq: config.seq?.() ?? ++context.seq,
    preview: NOT_INSPECTED,
    fault: why,
    progressToken: undefined,
    version,
    shared: false,
  };
  recordEnded(context, step, read);
}

/** The whole of a call that never was one: its start, its refusal and its end. */
export function recordEnded(context: Context, step: MessageStep, read: ReadCall): void {
  const decided = { read, outcome: outcomeOf(context, step, read), id: undefined };
  recordStart(context, step, decided);
  recordDecision(context, step, decided);
  const error = { class: 'policy_block', message: read.fault ?? '' } as const;
  emitEnd(step, read.ref, { status: 'ERROR', sinceMs: step.nowMs, bytesOut: 0, error });
}

/** A hash that tells apart what was not read as arguments: that of its first bytes. */
export function rejectedHash({ config }: Context, bytes: Uint8Array): string {
  const seen = bytes.subarray(0, HASHED_BYTES_MAX);
  return config.sha256Bytes?.(seen) ?? config.sha256(unitsOf(seen));
}

/** The bytes as a text, each as the character of its number. */
function unitsOf(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 1_024) {
    text += String.fromCharCode(...bytes.subarray(at, at + 1_024));
  }
  return text;
}

// Requests that are no tool call and that name something: two readers must not see two of them.

const NAMING_METHOD = /^(?:prompts\/get|completion\/complete|resources\/.*)$/;
const DETAIL_LENGTH_MAX = 200;

/** What is ambiguous in the params of such a request, in words. */
function ambiguityIn(context: Context, { bytes }: MessageStep, method: string): string | undefined {
  if (!NAMING_METHOD.test(method)) return undefined;
  const range = memberRange(bytes, 'params');
  if (range === undefined) return undefined;
  const text = context.decode(bytes, range.start, range.end);
  const read = canonicalize(text, { foldsKeys: true });
  if (read.ok || read.code !== 'SUB_CANON_DUPLICATE_KEY') return undefined;
  return context.redact(`Invalid params: ${read.message}.`).slice(0, DETAIL_LENGTH_MAX);
}

/** Whether it means one thing to every reader; it is refused where it does not. */
export function isUnambiguous(
  context: Context,
  step: MessageStep,
  seen: SeenRequest | SeenNotification,
): boolean {
  const { method } = seen;
  const detail = ambiguityIn(context, step, method);
  if (detail === undefined) return true;
  const told = { reason: 'duplicate_key', detail } as const;
  if (!context.enforcing) {
    report(step, { what: 'WOULD_REJECT', ...told });
    return true;
  }
  const id = seen.kind === 'request' ? seen.id : undefined;
  reject(context, step, { ...told, id, asks: true, code: INVALID_PARAMS, method });
  return false;
}
