// The start, the decision and the end of a call: the events of contract A. A decision is recorded before it is applied.

import {
  type CallError,
  type CallRef,
  type CallStatus,
  type Decision,
  type EventBody,
  type EventDecision,
  eventDecision,
  isObject,
  type StartedCall,
  TRACE_RULES_MAX,
} from '@subluminal/contracts';
import { policiesIn } from '../policy/compile/snapshot.ts';
import { recordResult } from '../policy/decide/decide.ts';
import type { TraceStep } from '../policy/model/call.ts';
import { awaitsResult } from '../policy/rules/index.ts';
import type { Context, MessageStep, OpenCall, OpenRequest } from './context.ts';
import type { DecidedCall } from './decide-call.ts';
import type { ContentNote } from './guard.ts';
import type { ByteRange } from './peek/types.ts';

/** Event bodies are built field by field: this happens three times per call, and copying costs. */
type MutableBody<T> = { -readonly [K in keyof T]: T[K] };

const TOOL_USE_ID_LENGTH_MAX = 256;

/** Records the start of a call, before it is forwarded or refused. */
export function recordStart({ context, out }: MessageStep, { read, outcome }: DecidedCall): void {
  const { ref, seq, streamHash, toolUseId } = read;
  const { content, risk_class } = outcome;
  context.counts.total++;
  // Content that may not travel is not kept in a preview either.
  const isKept = content === undefined || content.action === 'tag';
  const { truncated, text } = isKept ? read.preview : NOT_INSPECTED;
  const call: MutableBody<StartedCall> = {
    call_id: ref.call_id,
    server_name: ref.server_name,
    tool_name: ref.tool_name,
    args_hash: ref.args_hash,
    transport: context.config.transport ?? 'mcp_stdio',
    bytes_in: read.call.bytes_in,
    preview: text === undefined ? { truncated } : { truncated, args_preview: text },
    seq,
  };
  if (risk_class.length > 0) call.risk_class = risk_class;
  const { subject } = read.call;
  if (subject !== undefined && subject !== 'turn') call.subject = subject;
  if (streamHash !== undefined) call.args_stream_hash = streamHash;
  if (toolUseId !== undefined && toolUseId !== '') {
    call.tool_use_id = context.redact(toolUseId).slice(0, TOOL_USE_ID_LENGTH_MAX);
  }
  const durability = text === undefined ? 'durable' : 'preview';
  out.push({ do: 'emit', type: 'tool_call_start', durability, body: { call } });
}

/** Adopts the state of a decision and records the decision, before it is applied. */
export function recordDecision(step: MessageStep, decided: DecidedCall): void {
  const { context } = step;
  const { counts } = context;
  const { read, outcome, id } = decided;
  const { decision } = outcome;
  const { action, would } = decision;
  context.state = outcome.state;
  emitGrants(step, decided);
  emitDecision(step, decided);
  context.config.decided?.(read.ref, decision, id?.json);
  if (action === 'ALLOW') counts.allowed++;
  else if (action === 'THROTTLE') counts.throttled++;
  else counts.blocked++;
  if (action === 'ALLOW' && would !== undefined && would.action !== 'ALLOW') counts.spared++;
}

/** Records why a call passes although a rule asks a person: a grant, or the development profile. */
function emitGrants(step: MessageStep, { taken = [], read, outcome }: DecidedCall): void {
  for (const grant of taken) emitApproval(step, read.ref, { ...grant, state: 'approved' });
  const { snapshot, enforcing } = step.context;
  const { rule_id } = outcome.decision.would ?? {};
  if (typeof rule_id !== 'string' || enforcing) return;
  if (!policiesIn(snapshot).some(({ document }) => document.mode === 'control')) return;
  const asks = outcome.trace.some((one) => one.outcome === 'asks' && one.rule_id === rule_id);
  if (asks) emitApproval(step, read.ref, { rule_id, state: 'auto_approved' });
}

/** Emits the decision, a tripped breaker and the hint. */
function emitDecision(step: MessageStep, decided: DecidedCall): void {
  const { context, out } = step;
  const { ref } = decided.read;
  const { decision, risk_class, content, trace } = decided.outcome;
  const call = risk_class.length > 0 ? withRisk(ref, risk_class) : ref;
  const manifest_hash = context.guard?.manifestHash;
  const noted = content === undefined ? call : { ...call, content };
  const body: MutableBody<EventBody<'tool_call_decision'>> = {
    call: manifest_hash === undefined ? noted : { ...noted, manifest_hash },
    decision: recordedDecision(context, decision),
    counter_scope: context.config.hub === true ? 'run' : 'shim',
  };
  const judgements = decided.read.brief?.judgements ?? [];
  if (judgements.length > 0) body.judgements = judgements;
  if (trace.length > 0) body.trace = recordedTrace(context, trace);
  out.push({ do: 'emit', type: 'tool_call_decision', durability: 'durable', body });
  emitBreaker(step, decided);
  if (decision.action !== 'REJECT_WITH_HINT') return;
  const { hint } = withoutSecrets(context, decision);
  if (hint === undefined) return;
  const issued = { call: { call_id: ref.call_id }, hint };
  out.push({ do: 'emit', type: 'hint_issued', durability: 'durable', body: issued });
}

/** Emits that a person is asked, or why nobody needs to be. */
export function emitApproval(
  step: MessageStep,
  { call_id }: CallRef,
  approval: EventBody<'approval'>['approval'],
): void {
  const body = { call: { call_id }, approval };
  step.out.push({ do: 'emit', type: 'approval', durability: 'durable', body });
}

/** Why a rule failed may quote the call. */
function recordedTrace({ redact }: Context, trace: readonly TraceStep[]): readonly TraceStep[] {
  const bounded = trace.length > TRACE_RULES_MAX ? trace.slice(0, TRACE_RULES_MAX) : trace;
  if (bounded.every(({ note }) => note === null)) return bounded;
  return bounded.map((step) => (step.note === null ? step : { ...step, note: redact(step.note) }));
}

/** Spelled out: an object made by spreading is slower to read, and this one is read at once. */
function withRisk(
  ref: CallRef,
  risk_class: readonly string[],
): EventBody<'tool_call_decision'>['call'] {
  const { call_id, server_name, tool_name, args_hash } = ref;
  return { call_id, server_name, tool_name, args_hash, risk_class };
}

function recordedDecision(context: Context, decision: Decision): EventDecision {
  const { lastDecision: last, snapshot } = context;
  const policy = snapshot.ref;
  if (last?.decision === decision && last.policy === policy) return last.event;
  const event = eventDecision(withoutSecrets(context, decision), policy);
  context.lastDecision = { decision, policy, event };
  return event;
}

/** A decision without secrets: its suggested arguments, for example, are made from those of the agent. */
export function withoutSecrets({ redact }: Context, decision: Decision): Decision {
  const { hint, summary, action, would } = decision;
  // The summary of a rule that lets a call pass holds nothing of the call.
  if (action === 'ALLOW' && would === undefined) return decision;
  const clean = {
    ...decision,
    summary: redact(summary),
    ...(would && { would: { ...would, summary: redact(would.summary) } }),
  };
  if (hint === undefined || hint.suggested_args === null) return clean;
  const text = JSON.stringify(hint.suggested_args);
  if (redact(text) === text) return clean;
  return { ...clean, hint: { ...hint, suggested_args: null } };
}

const NO_PREVIEW: Preview = { truncated: false };

export interface CallEnding {
  readonly status: CallStatus;
  readonly sinceMs: number;
  readonly bytesOut: number;
  readonly preview?: Preview;
  readonly error?: CallError | undefined;
  readonly streamHash?: string | undefined;
  /** The findings of the gates in the answer. */
  readonly content?: ContentNote | undefined;
}

export function emitEnd(step: MessageStep, ref: CallRef, ended: CallEnding): void {
  const { status, sinceMs, bytesOut, preview = NO_PREVIEW } = ended;
  const { truncated, text } = preview;
  const body: MutableBody<EventBody<'tool_call_end'>> = {
    call: ended.content === undefined ? ref : { ...ref, content: ended.content },
    status,
    latency_ms: Math.max(0, Math.round(step.nowMs - sinceMs)),
    bytes_out: bytesOut,
    preview: text === undefined ? { truncated } : { truncated, result_preview: text },
  };
  if (ended.error !== undefined) body.error = ended.error;
  if (ended.streamHash !== undefined) body.result_stream_hash = ended.streamHash;
  const durability = text === undefined ? 'durable' : 'preview';
  step.out.push({ do: 'emit', type: 'tool_call_end', durability, body });
}

interface AnsweredCall {
  readonly call: OpenCall;
  readonly isError: boolean;
  readonly sinceMs: number;
}

/** Tells the gates that a forwarded call has ended, and the breakers if it failed. */
export function notifyEnd(step: MessageStep, { call: open, isError, sinceMs }: AnsweredCall): void {
  const { context, nowMs } = step;
  if (isError) recordFailure(step, open);
  if (context.guard === undefined || open.call.subject !== undefined) return;
  const tookMs = Math.max(0, nowMs - sinceMs);
  const { ref, call } = open;
  context.guard.ended({ callId: ref.call_id, tool: call.tool_name, isError, tookMs }, nowMs);
}

interface EndedCall extends CallEnding {
  readonly open: OpenCall;
  /** Whether the server reported an error, if the agent gets something else. */
  readonly isError?: boolean | undefined;
  /** It went on as a task. */
  readonly isTask?: boolean | undefined;
}

/** Counts and records the end of a forwarded call. */
export function endCall(step: MessageStep, ended: EndedCall): void {
  const { counts } = step.context;
  const { open, status, sinceMs } = ended;
  const failed = status === 'ERROR' || status === 'TIMEOUT';
  const { isError = failed } = ended;
  // An answer that a gate has held back is no failure of the server.
  if (ended.error?.class === 'policy_block') counts.heldBack++;
  else if (failed) counts.errors++;
  // The gates were told when the task began: how long a task takes says nothing about the server.
  if (ended.isTask !== true) notifyEnd(step, { call: open, isError, sinceMs });
  else if (isError) notifyEnd(step, { call: open, isError, sinceMs: step.nowMs });
  emitEnd(step, open.ref, ended);
}

/** Records the end of a call that has no answer; other requests are not recorded. */
export function endUnanswered(
  step: MessageStep,
  { call, sinceMs }: OpenRequest,
  reason: Pick<CallEnding, 'status' | 'error'>,
): void {
  if (call !== undefined) endCall(step, { open: call, sinceMs, bytesOut: 0, ...reason });
}

/** Reports a failed call to the breakers, here or at the hub. */
function recordFailure(step: MessageStep, open: OpenCall): void {
  const { context, nowMs, out } = step;
  const { call, trace, ref } = open;
  if (!open.shared) {
    const result = { call, trace, result: 'error', nowMs } as const;
    context.state = recordResult(context.snapshot, result, context.state);
  } else if (trace.some(awaitsResult)) {
    out.push({ do: 'result', callId: ref.call_id, result: 'error' });
  }
}

/** Emits a breaker that stays open once per window, not once per call. */
function emitBreaker({ context, nowMs, out }: MessageStep, { read, outcome }: DecidedCall): void {
  const { decision, trace } = outcome;
  const { rule_id = '', tally } = trace.find((one) => one.outcome === 'decided') ?? {};
  if (!tally) return;
  const rules = policiesIn(context.snapshot).flatMap((policy) => policy.rules);
  const decided = rules.find(({ rule }) => rule.rule_id === rule_id);
  const { reason_code } = decision.would ?? decision;
  const report = decided?.kind.report?.(decided.rule, reason_code, tally);
  if (report === undefined) return;
  const { scope, cause, windowMs: window_ms } = report;
  const lastMs = context.breakersReported.get(rule_id);
  if (lastMs !== undefined && nowMs - lastMs < window_ms && nowMs >= lastMs) return;
  context.breakersReported.set(rule_id, nowMs);
  const { call_id, server_name, tool_name } = read.ref;
  const trip = { rule_id, scope, cause, count: tally.count, window_ms, action: decision.action };
  const body = { breaker: { ...trip, call_id, server_name, tool_name } };
  out.push({ do: 'emit', type: 'breaker_trip', durability: 'durable', body });
}

/** Read beyond the limit of a preview: a secret that is cut would not be recognised. */
const MARGIN = 4_096;

export interface Preview {
  readonly truncated: boolean;
  readonly text?: string;
}

export const NOT_INSPECTED: Preview = { truncated: true };

/** A UTF-16 unit takes at most this many bytes in UTF-8. */
const UNIT_BYTES_MAX = 3;

/** A preview of a text. */
export function previewText(context: Context, text: string): Preview {
  const bytesMax = context.limits.previewBytesMax;
  if (bytesMax === 0) return NOT_INSPECTED;
  const cut = text.length > bytesMax + MARGIN;
  return redactedPreview(context, { text: cut ? text.slice(0, bytesMax + MARGIN) : text, cut });
}

/** A preview of a part of a message; no more is decoded than may be shown. */
export function previewBytes(
  context: Context,
  bytes: Uint8Array,
  { start, end }: ByteRange,
): Preview {
  const bytesMax = context.limits.previewBytesMax;
  if (bytesMax === 0) return NOT_INSPECTED;
  const until = Math.min(end, start + bytesMax + MARGIN);
  const cut = until < end;
  const text = context.decode(bytes, start, until);
  // If characters take several bytes, more of them fit into the preview.
  if (cut && text.length < until - start)
    return previewText(context, longText(context, bytes, { start, end }));
  const isClean = context.config.isClean?.(bytes, start, until) === true;
  return redactedPreview(context, { text, cut, isClean });
}

/** At least one unit more than is shown, if there is one: `previewText` then knows that it is cut. */
function longText(context: Context, bytes: Uint8Array, { start, end }: ByteRange): string {
  const unitsMax = context.limits.previewBytesMax + MARGIN;
  let until = Math.min(end, start + (unitsMax + 1) * UNIT_BYTES_MAX);
  // Not in the middle of a character.
  while (until < end && until > start && ((bytes[until] ?? 0) & 0xc0) === 0x80) until--;
  return context.decode(bytes, start, until);
}

interface PreviewSource {
  readonly text: string;
  /** The text goes on. */
  readonly cut: boolean;
  /** There is nothing to redact. */
  readonly isClean?: boolean;
}

function redactedPreview(context: Context, { text, cut, isClean = false }: PreviewSource): Preview {
  const redacted = isClean ? text : context.redact(text, { truncated: cut });
  const safe = cut ? redacted.slice(0, Math.max(0, redacted.length - MARGIN)) : redacted;
  const whole = fitted(safe, context.limits.previewBytesMax, context.config.utf8Bytes);
  return { truncated: cut || whole.length < safe.length, text: whole };
}

/** The beginning of a text that takes at most this many bytes in UTF-8. */
export function fitted(
  text: string,
  bytesMax: number,
  utf8Bytes?: (text: string) => number,
): string {
  if (text.length * 3 <= bytesMax) return text;
  if (text.length <= bytesMax && utf8Bytes !== undefined && utf8Bytes(text) <= bytesMax)
    return text;
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > bytesMax) return text.slice(0, at);
    at += point < 0x10000 ? 1 : 2;
  }
  return text;
}

const LEFT_OUT = { truncated: true, previews_dropped: true } as const;

/** The line of an event without its preview, for a sink that is short of room. */
export function leanLine(line: string): string {
  const event: unknown = JSON.parse(line);
  if (!isObject(event)) return line;
  const holder = event['type'] === 'tool_call_start' ? event['call'] : event;
  if (!isObject(holder) || holder['preview'] === undefined) return line;
  Object.assign(holder, { preview: LEFT_OUT });
  return JSON.stringify(event);
}
