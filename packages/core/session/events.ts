// Contract A, from what happened to bodies of events.
import {
  type CallError,
  type CallRef,
  type CallStatus,
  type Decision,
  type EventBody,
  type EventDecision,
  eventDecision,
  type RuleOf,
  type StartedCall,
} from '@subluminal/contracts';
import { policiesIn } from '../policy/compile/snapshot.ts';
import { recordResult } from '../policy/decide/decide.ts';
import type { Outcome, PolicyState, Snapshot } from '../policy/index.ts';
import type { ReadCall } from './apply-decision.ts';
import type { Context, Step } from './context.ts';
import type { Judgement } from './gates.ts';
import type { ContentNote } from './guard.ts';
import type { OpenCall } from './pending.ts';
import type { Preview } from './preview.ts';

/** Bodies are built field by field: this happens three times per call, and copying costs. */
type Building<T> = { -readonly [K in keyof T]: T[K] };

export function emitStart(
  context: Context,
  step: Step,
  { read, riskClass }: { readonly read: ReadCall; readonly riskClass: readonly string[] },
): void {
  const { ref, seq, streamHash } = read;
  const { truncated, text } = read.preview;
  const call: Building<StartedCall> = {
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
export function emitDecision(
  context: Context,
  step: Step,
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
  step: Step,
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
  const { told, snapshot } = context;
  const policy = snapshot.ref;
  if (told?.decision === decision && told.policy === policy) return told.event;
  const event = eventDecision(withoutSecrets(context, decision), policy);
  context.told = { decision, policy, event };
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

export interface Ended {
  readonly status: CallStatus;
  readonly sinceMs: number;
  readonly bytesOut: number;
  readonly preview?: Preview;
  readonly error?: CallError | undefined;
  readonly streamHash?: string | undefined;
  /** What the gates found in the answer. */
  readonly content?: ContentNote | undefined;
}

export function emitEnd(step: Step, ref: CallRef, ended: Ended): void {
  const { status, sinceMs, bytesOut, preview = NO_PREVIEW } = ended;
  const { truncated, text } = preview;
  const body: Building<EventBody<'tool_call_end'>> = {
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
  { nowMs }: Step,
  end: Pick<OpenCall, 'ref' | 'call'> & { readonly isError: boolean; readonly sinceMs: number },
): void {
  if (guard === undefined) return;
  const { ref, call, isError, sinceMs } = end;
  const tookMs = Math.max(0, nowMs - sinceMs);
  guard.ended({ callId: ref.call_id, tool: call.tool_name, isError, tookMs }, nowMs);
}

interface EndedCall extends Ended {
  readonly open: OpenCall;
  /** What the server said, where that is not what the agent hears. */
  readonly isError?: boolean | undefined;
}

/** The end of a forwarded call: counted, told to the breakers, and on record. */
export function endCall(context: Context, step: Step, ended: EndedCall): void {
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

/** The answer to a call that was cancelled: its end is on record, and breakers count its error. */
export function recordLateAnswer(
  context: Context,
  step: Step,
  late: { readonly call: OpenCall; readonly sinceMs: number; readonly isError: boolean },
): void {
  const { call, sinceMs, isError } = late;
  if (isError) recordFailure(context, step, call);
  tellEnd(context, step, { ref: call.ref, call: call.call, isError, sinceMs });
}

/** Breakers hear of the error, wherever they count. */
function recordFailure(context: Context, step: Step, open: OpenCall): void {
  const { call, trace, ref } = open;
  if (open.shared) {
    if (!trace.some(({ kind }) => kind === 'breaker')) return;
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
  step: Step,
  { ref, outcome }: { readonly ref: CallRef; readonly outcome: Outcome<PolicyState> },
): void {
  const { decision, trace } = outcome;
  const decided = trace.find(({ kind, outcome: how }) => kind === 'breaker' && how === 'decided');
  if (decided === undefined) return;
  const rule = breakerOf(context.snapshot, decided.rule_id);
  if (rule === undefined || decided.tally === null) return;
  const { scope } = rule.effect.breaker;
  const cause = causeOf(rule, decision, decided.tally.limit);
  const { window_ms, repeat_window_ms } = rule.effect.breaker;
  const windowMs = (cause === 'errors' ? window_ms : repeat_window_ms) ?? 1;
  const lastMs = context.tripped.get(rule.rule_id);
  if (lastMs !== undefined && step.nowMs - lastMs < windowMs && step.nowMs >= lastMs) return;
  context.tripped.set(rule.rule_id, step.nowMs);
  const { call_id, server_name, tool_name } = ref;
  const breaker = { rule_id: rule.rule_id, scope, cause, count: decided.tally.count };
  const how = { window_ms: windowMs, action: decision.action, call_id, server_name, tool_name };
  const body = { breaker: { ...breaker, ...how } };
  step.out.push({ do: 'emit', type: 'breaker_trip', durability: 'durable', body });
}

function breakerOf(snapshot: Snapshot, ruleId: string): RuleOf<'breaker'> | undefined {
  for (const { rule } of policiesIn(snapshot).flatMap(({ rules }) => rules)) {
    if (rule.kind === 'breaker' && rule.rule_id === ruleId) return rule;
  }
  return undefined;
}

/** A rule may bring its own reason code; then the limit that was reached tells the cause. */
function causeOf(rule: RuleOf<'breaker'>, decision: Decision, limit: number): 'errors' | 'repeats' {
  const { reason_code } = decision.would ?? decision;
  if (reason_code === 'BREAKER_ERRORS') return 'errors';
  if (reason_code === 'BREAKER_REPEATS') return 'repeats';
  return rule.effect.breaker.error_threshold === limit ? 'errors' : 'repeats';
}

const LEFT_OUT = { truncated: true, previews_dropped: true } as const;

/** Makes of an event's line that of the same event without its preview, for when there is no room. */
export function leanLine(line: string): string {
  const event: unknown = JSON.parse(line);
  if (!isObject(event)) return line;
  const holder = event['type'] === 'tool_call_start' ? event['call'] : event;
  if (!isObject(holder) || holder['preview'] === undefined) return line;
  holder['preview'] = LEFT_OUT;
  return JSON.stringify(event);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
