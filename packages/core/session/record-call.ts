// Step 3 of a call, and its end: what happened, as bodies of events of contract A. A decision is on
// record before it is applied.

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
} from '@subluminal/contracts';
import { policiesIn } from '../policy/compile/snapshot.ts';
import { recordResult } from '../policy/decide/decide.ts';
import type { Outcome, PolicyState } from '../policy/index.ts';
import { awaitsResult } from '../policy/rules/index.ts';
import type { Context, MessageStep, OpenCall, OpenRequest } from './context.ts';
import type { DecidedCall, Judgement } from './decide-call.ts';
import type { ContentNote } from './guard.ts';
import type { ByteRange } from './peek/types.ts';
import type { ReadCall } from './read-call.ts';

/** Puts a call on record, before anything happens to it. */
export function recordStart(
  context: Context,
  step: MessageStep,
  { read, outcome }: DecidedCall,
): void {
  context.counts.total++;
  const { content, risk_class: riskClass } = outcome;
  // What must not travel must not be kept either.
  const isKept = content === undefined || content.action === 'tag';
  const shown = isKept ? read : { ...read, preview: NOT_INSPECTED };
  emitStart(context, step, { read: shown, riskClass });
}

/** Adopts a decision and puts it on record, before it is carried out. */
export function recordDecision(context: Context, step: MessageStep, decided: DecidedCall): void {
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
function emitGrants(context: Context, step: MessageStep, decided: DecidedCall): void {
  const { taken = [], read, outcome } = decided;
  for (const grant of taken) emitApproval(step, read.ref, { ...grant, state: 'approved' });
  const { would } = outcome.decision;
  if (would === undefined || context.enforcing) return;
  if (!policiesIn(context.snapshot).some(({ document }) => document.mode === 'control')) return;
  const asks = outcome.trace.some(
    ({ outcome: said, rule_id }) => said === 'asks' && rule_id === would.rule_id,
  );
  if (!asks || would.rule_id === null) return;
  emitApproval(step, read.ref, { rule_id: would.rule_id, state: 'auto_approved' });
}

/** Bodies are built field by field: this happens three times per call, and copying costs. */
type MutableBody<T> = { -readonly [K in keyof T]: T[K] };

function emitStart(
  context: Context,
  step: MessageStep,
  { read, riskClass }: { readonly read: ReadCall; readonly riskClass: readonly string[] },
): void {
  const { ref, seq, streamHash } = read;
  const { truncated, text } = read.preview;
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
  if (riskClass.length > 0) call.risk_class = riskClass;
  if (streamHash !== undefined) call.args_stream_hash = streamHash;
  const durability = text === undefined ? 'durable' : 'preview';
  step.out.push({ do: 'emit', type: 'tool_call_start', durability, body: { call } });
}

/** The decision and what goes with it. */
function emitDecision(
  context: Context,
  step: MessageStep,
  decided: { readonly ref: CallRef; readonly outcome: Judgement },
): void {
  const { ref, outcome } = decided;
  const { decision, risk_class, content } = outcome;
  const call = risk_class.length > 0 ? withRisk(ref, risk_class) : ref;
  step.out.push({
    do: 'emit',
    type: 'tool_call_decision',
    durability: 'durable',
    body: {
      call: content === undefined ? call : { ...call, content },
      decision: toldDecision(context, decision),
      counter_scope: context.config.hub === true ? 'run' : 'shim',
    },
  });
  emitBreaker(context, step, decided);
  if (decision.action !== 'REJECT_WITH_HINT' || decision.hint === undefined) return;
  const { hint } = withoutSecrets(context, decision);
  if (hint === undefined) return;
  const body = { call: { call_id: ref.call_id }, hint };
  step.out.push({ do: 'emit', type: 'hint_issued', durability: 'durable', body });
}

/** That a person is asked, or why nobody needs to be. */
export function emitApproval(
  step: MessageStep,
  { call_id }: CallRef,
  approval: EventBody<'approval'>['approval'],
): void {
  const body = { call: { call_id }, approval };
  step.out.push({ do: 'emit', type: 'approval', durability: 'durable', body });
}

/** Spelled out: an object made by spreading is slower to read, and this one is read at once. */
function withRisk(
  ref: CallRef,
  risk_class: readonly string[],
): EventBody<'tool_call_decision'>['call'] {
  const { call_id, server_name, tool_name, args_hash } = ref;
  return { call_id, server_name, tool_name, args_hash, risk_class };
}

function toldDecision(context: Context, decision: Decision): EventDecision {
  const { lastDecision: last, snapshot } = context;
  const policy = snapshot.ref;
  if (last?.decision === decision && last.policy === policy) return last.event;
  const event = eventDecision(withoutSecrets(context, decision), policy);
  context.lastDecision = { decision, policy, event };
  return event;
}

/** A decision as it may be told: suggested arguments are made from those of the agent. */
export function withoutSecrets({ redact }: Context, decision: Decision): Decision {
  const { hint, summary, action, would } = decision;
  // The words of a rule that lets a call pass are its own.
  if (action === 'ALLOW' && would === undefined) return decision;
  const shown = redact(summary);
  const told = { ...decision, summary: shown, ...(would && { would: wouldOf(redact, would) }) };
  if (hint === undefined || hint.suggested_args === null) return told;
  const text = JSON.stringify(hint.suggested_args);
  if (redact(text) === text) return told;
  return { ...told, hint: { ...hint, suggested_args: null } };
}

function wouldOf(redact: Context['redact'], would: NonNullable<Decision['would']>) {
  return { ...would, summary: redact(would.summary) };
}

const NO_PREVIEW: Preview = { truncated: false };

export interface CallEnding {
  readonly status: CallStatus;
  readonly sinceMs: number;
  readonly bytesOut: number;
  readonly preview?: Preview;
  readonly error?: CallError | undefined;
  readonly streamHash?: string | undefined;
  /** What the gates found in the answer. */
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

/** Gates hear of the end of a call that has passed. */
function tellEnd(
  { guard }: Context,
  { nowMs }: MessageStep,
  end: Pick<OpenCall, 'ref' | 'call'> & { readonly isError: boolean; readonly sinceMs: number },
): void {
  if (guard === undefined) return;
  const { ref, call, isError, sinceMs } = end;
  const tookMs = Math.max(0, nowMs - sinceMs);
  guard.ended({ callId: ref.call_id, tool: call.tool_name, isError, tookMs }, nowMs);
}

interface EndedCall extends CallEnding {
  readonly open: OpenCall;
  /** What the server said, where that is not what the agent hears. */
  readonly isError?: boolean | undefined;
}

/** The end of a forwarded call: counted, told to the breakers, and on record. */
export function endCall(context: Context, step: MessageStep, ended: EndedCall): void {
  const { open } = ended;
  const failed = ended.status === 'ERROR' || ended.status === 'TIMEOUT';
  const { isError = failed, sinceMs } = ended;
  // An answer that we have held back is no failure of the server, and its end says so on record.
  const isHeldBack = ended.error?.class === 'policy_block';
  if (isHeldBack) context.counts.heldBack++;
  else if (failed) context.counts.errors++;
  if (isError) recordFailure(context, step, open);
  emitEnd(step, open.ref, ended);
  tellEnd(context, step, { ref: open.ref, call: open.call, isError, sinceMs });
}

/** The end of a call that has no answer; requests that are no calls are not on record. */
export function endUnanswered(
  context: Context,
  step: MessageStep,
  { open, ...why }: Pick<CallEnding, 'status' | 'error'> & { readonly open: OpenRequest },
): void {
  const { call, sinceMs } = open;
  if (call !== undefined) endCall(context, step, { open: call, sinceMs, bytesOut: 0, ...why });
}

/** The answer to a call that was cancelled: its end is on record, and breakers count its error. */
export function recordLateAnswer(
  context: Context,
  step: MessageStep,
  late: { readonly call: OpenCall; readonly sinceMs: number; readonly isError: boolean },
): void {
  const { call, sinceMs, isError } = late;
  if (isError) recordFailure(context, step, call);
  tellEnd(context, step, { ref: call.ref, call: call.call, isError, sinceMs });
}

/** Breakers hear of the error, wherever they count. */
function recordFailure(context: Context, step: MessageStep, open: OpenCall): void {
  const { call, trace, ref } = open;
  if (open.shared) {
    if (!trace.some(awaitsResult)) return;
    step.out.push({ do: 'result', callId: ref.call_id, result: 'error' });
    return;
  }
  const result = { call, trace, result: 'error', nowMs: step.nowMs } as const;
  // The policy may have changed meanwhile: a breaker that is still there hears of the error.
  context.state = recordResult(context.snapshot, result, context.state);
}

/** A breaker that stays open is told of once per window, not once per call. */
function emitBreaker(
  context: Context,
  step: MessageStep,
  { ref, outcome }: { readonly ref: CallRef; readonly outcome: Outcome<PolicyState> },
): void {
  const { decision, trace } = outcome;
  const decided = trace.find(({ outcome: how }) => how === 'decided');
  if (!decided?.tally) return;
  const rule = policiesIn(context.snapshot)
    .flatMap(({ rules }) => rules)
    .find((one) => one.rule.rule_id === decided.rule_id);
  if (rule === undefined) return;
  const { rule_id } = decided;
  const { reason_code } = decision.would ?? decision;
  const report = rule.kind.report?.(rule.rule, reason_code, decided.tally);
  if (report === undefined) return;
  const { scope, cause, windowMs } = report;
  const lastMs = context.breakersReported.get(rule_id);
  if (lastMs !== undefined && step.nowMs - lastMs < windowMs && step.nowMs >= lastMs) return;
  context.breakersReported.set(rule_id, step.nowMs);
  const { call_id, server_name, tool_name } = ref;
  const breaker = { rule_id, scope, cause, count: decided.tally.count };
  const how = { window_ms: windowMs, action: decision.action, call_id, server_name, tool_name };
  const body = { breaker: { ...breaker, ...how } };
  step.out.push({ do: 'emit', type: 'breaker_trip', durability: 'durable', body });
}

/** A secret at the edge of what is cut would be cut too, and no longer recognised. */
const MARGIN = 4_096;

export interface Preview {
  readonly truncated: boolean;
  readonly text?: string;
}

export const NOT_INSPECTED: Preview = { truncated: true };

/** A unit of text takes at most so many bytes. */
const UNIT_BYTES_MAX = 3;

/** A preview of a text that is already there. */
export function previewText(context: Context, text: string): Preview {
  const bytesMax = context.limits.previewBytesMax;
  if (bytesMax === 0) return NOT_INSPECTED;
  const cut = text.length > bytesMax + MARGIN;
  return redactedPreview(context, { text: cut ? text.slice(0, bytesMax + MARGIN) : text, cut });
}

/** A preview of a part of a message; only what may be shown is decoded. */
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
  // Where characters take several bytes, there is more to show than that.
  if (cut && text.length < until - start)
    return previewText(context, longText(context, bytes, { start, end }));
  const isClean = context.config.isClean?.(bytes, start, until) === true;
  return redactedPreview(context, { text, cut, isClean });
}

/** At least one unit more than is shown, if there is one: so `previewText` sees that it is cut. */
function longText(context: Context, bytes: Uint8Array, { start, end }: ByteRange): string {
  const unitsMax = context.limits.previewBytesMax + MARGIN;
  let until = Math.min(end, start + (unitsMax + 1) * UNIT_BYTES_MAX);
  // Never through the middle of a character.
  while (until < end && until > start && ((bytes[until] ?? 0) & 0xc0) === 0x80) until--;
  return context.decode(bytes, start, until);
}

interface PreviewSource {
  readonly text: string;
  /** There is more of it. */
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

/** As much of a text as takes that many bytes in UTF-8. */
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

/** The line of an event without its preview, for when there is no room. */
export function leanLine(line: string): string {
  const event: unknown = JSON.parse(line);
  if (!isObject(event)) return line;
  const holder = event['type'] === 'tool_call_start' ? event['call'] : event;
  if (!isObject(holder) || holder['preview'] === undefined) return line;
  Object.assign(holder, { preview: LEFT_OUT });
  return JSON.stringify(event);
}
