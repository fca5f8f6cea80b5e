// What must hold for the body of each event type before it is written.

import {
  ACTION,
  APPROVAL_REQUEST,
  HINT,
  type Hint,
  SEVERITY,
  TERMINATE,
  WOULD,
} from '../decision/decision.ts';
import { boundedHint } from '../decision/hint.ts';
import { isLonger } from '../shape/check.ts';
import { open, required } from '../shape/shape.ts';
import { SECRET_INJECTION_WRITTEN } from './bodies.ts';
import {
  CALL_ERROR,
  CALL_STATUS,
  type CallRef,
  CLASS_LENGTH_MAX,
  CLASSES_MAX,
  CONTENT_OUTCOME,
  type ContentOutcome,
  type DecidedCall,
  type EndedCall,
  type EventDecision,
  FINDING_LENGTH_MAX,
  FINDINGS_MAX,
  type StartedCall,
  TRANSPORT,
  TRUNCATED_PREVIEW,
} from './call.ts';
import {
  fitsBytes,
  MalformedEvent,
  mustBe,
  mustBePlain,
  mustCount,
  mustFitWritten,
  mustFlag,
  mustHash,
  mustText,
  type Utf8Bytes,
} from './guards.ts';
import { COUNTER_SCOPE, EVENT_BODIES, type EventBodies, type EventType } from './types.ts';

/** The limits of inspection that the producer works with. */
export interface InspectLimits {
  readonly inspectBytesMax: number;
  readonly previewBytesMax: number;
  readonly utf8Bytes?: Utf8Bytes | undefined;
}

/** Each returns what to write: a copy whose fields were read once, so that none can change. */
type Guards = {
  readonly [T in EventType]: (body: EventBodies[T], limits: InspectLimits) => EventBodies[T];
};
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const SHAPES = {
  run_start: open(EVENT_BODIES.run_start),
  run_end: open(EVENT_BODIES.run_end),
  policy_loaded: open(EVENT_BODIES.policy_loaded),
  shim_health: open(EVENT_BODIES.shim_health),
  breaker_trip: open(EVENT_BODIES.breaker_trip),
  approval: open(EVENT_BODIES.approval),
  surface: open(EVENT_BODIES.surface),
  secret_injection: open({ secret: required(SECRET_INJECTION_WRITTEN, 'Never its value.') }),
} as const;

/** Three types are hot and checked by hand; the others are rare and get the full check. */
export const GUARDS: Guards = {
  tool_call_start: guardStart,
  tool_call_decision: guardDecided,
  tool_call_end: guardEnd,
  hint_issued: (body) => {
    mustBePlain(body.call, 'call');
    const call = { ...body.call };
    mustText(call.call_id, 'call.call_id');
    return { call, hint: guardHint(body.hint, 'hint') };
  },
  run_start: (body) => mustFitWritten(SHAPES.run_start, body, 'run_start'),
  run_end: (body) => mustFitWritten(SHAPES.run_end, body, 'run_end'),
  policy_loaded: (body) => mustFitWritten(SHAPES.policy_loaded, body, 'policy_loaded'),
  secret_injection: (body) => mustFitWritten(SHAPES.secret_injection, body, 'secret_injection'),
  shim_health: (body) => mustFitWritten(SHAPES.shim_health, body, 'shim_health'),
  breaker_trip: (body) => mustFitWritten(SHAPES.breaker_trip, body, 'breaker_trip'),
  approval: (body) => mustFitWritten(SHAPES.approval, body, 'approval'),
  surface: (body) => mustFitWritten(SHAPES.surface, body, 'surface'),
};

// Copies are spelled out where they are made: one place for all shapes would be many times slower.

function guardStart(body: EventBodies['tool_call_start'], limits: InspectLimits) {
  const given = body.call;
  mustBePlain(given, 'call');
  const call: Mutable<StartedCall> = { ...given };
  guardRef(call);
  mustBe(TRANSPORT.values, call.transport, 'call.transport');
  mustCount(call.bytes_in, 'call.bytes_in');
  mustCount(call.seq, 'call.seq', 1);
  if (call.tags !== undefined) call.tags = guardClasses(call.tags, 'call.tags');
  if (call.risk_class !== undefined) {
    call.risk_class = guardClasses(call.risk_class, 'call.risk_class');
  }
  if (call.timeout_ms !== undefined) mustCount(call.timeout_ms, 'call.timeout_ms');
  if (call.args_stream_hash !== undefined) mustHash(call.args_stream_hash, 'call.args_stream_hash');
  mustBePlain(call.preview, 'call.preview');
  const preview = { ...call.preview };
  guardPreview(preview, call.bytes_in, limits);
  guardPreviewText(preview.args_preview, call.bytes_in, limits);
  call.preview = preview;
  return { call };
}

function guardDecided(body: EventBodies['tool_call_decision']) {
  const own: Mutable<EventBodies['tool_call_decision']> = { ...body };
  mustBePlain(own.call, 'call');
  const call: Mutable<DecidedCall> = { ...own.call };
  guardRef(call);
  if (call.risk_class !== undefined) {
    call.risk_class = guardClasses(call.risk_class, 'call.risk_class');
  }
  if (call.content !== undefined) call.content = guardContent(call.content);
  own.call = call;
  own.decision = guardDecision(own.decision);
  if (own.counter_scope !== undefined) {
    mustBe(COUNTER_SCOPE.values, own.counter_scope, 'counter_scope');
  }
  return own;
}

function guardEnd(body: EventBodies['tool_call_end'], limits: InspectLimits) {
  const own: Mutable<EventBodies['tool_call_end']> = { ...body };
  mustBePlain(own.call, 'call');
  const call: Mutable<EndedCall> = { ...own.call };
  guardRef(call);
  if (call.content !== undefined) call.content = guardContent(call.content);
  own.call = call;
  mustBe(CALL_STATUS.values, own.status, 'status');
  mustCount(own.latency_ms, 'latency_ms');
  mustCount(own.bytes_out, 'bytes_out');
  if (own.result_stream_hash !== undefined) mustHash(own.result_stream_hash, 'result_stream_hash');
  mustBePlain(own.preview, 'preview');
  const preview = { ...own.preview };
  guardPreview(preview, own.bytes_out, limits);
  guardPreviewText(preview.result_preview, own.bytes_out, limits);
  own.preview = preview;
  if (own.error === undefined) return own;
  if (own.status === 'OK') throw new MalformedEvent('error', 'absent when the status is OK');
  own.error = mustFitWritten(CALL_ERROR, own.error, 'error');
  return own;
}

function guardRef(call: CallRef): void {
  mustText(call.call_id, 'call.call_id');
  mustText(call.server_name, 'call.server_name');
  mustText(call.tool_name, 'call.tool_name');
  mustHash(call.args_hash, 'call.args_hash');
}

function guardDecision(given: EventDecision): EventDecision {
  mustBePlain(given, 'decision');
  const own: Mutable<EventDecision> = { ...given };
  const { action } = own;
  mustBe(ACTION.values, action, 'decision.action');
  mustBe(SEVERITY.values, own.severity, 'decision.severity');
  if (own.rule_id !== null) mustText(own.rule_id, 'decision.rule_id');
  mustBePlain(own.explain, 'decision.explain');
  const explain = { ...own.explain };
  mustText(explain.summary, 'decision.explain.summary');
  mustText(explain.reason_code, 'decision.explain.reason_code');
  own.explain = explain;
  mustBePlain(own.policy, 'decision.policy');
  const policy = { ...own.policy };
  mustText(policy.policy_id, 'decision.policy.policy_id');
  mustText(policy.policy_version, 'decision.policy.policy_version');
  mustHash(policy.policy_hash, 'decision.policy.policy_hash');
  own.policy = policy;
  if (own.backoff_ms !== undefined) mustCount(own.backoff_ms, 'decision.backoff_ms');
  else mustNotBe(action, 'THROTTLE', 'backoff_ms');
  if (own.hint !== undefined) own.hint = guardHint(own.hint, 'decision.hint');
  else mustNotBe(action, 'REJECT_WITH_HINT', 'hint');
  if (own.terminate !== undefined) {
    own.terminate = mustFitWritten(TERMINATE, own.terminate, 'decision.terminate');
  } else mustNotBe(action, 'TERMINATE_RUN', 'terminate');
  if (own.approval !== undefined) {
    own.approval = mustFitWritten(APPROVAL_REQUEST, own.approval, 'decision.approval');
  }
  if (own.would !== undefined) own.would = mustFitWritten(WOULD, own.would, 'decision.would');
  return own;
}

/** A suggestion is as large as what the agent sent: beyond the limits it is left out. */
function guardHint(hint: Hint, field: string): Hint {
  mustBePlain(hint, field);
  return mustFitWritten(HINT, boundedHint({ ...hint }), field);
}

function mustNotBe(action: string, needy: string, needed: string): void {
  if (action !== needy) return;
  throw new MalformedEvent(`decision.${needed}`, `there, because the action is ${needy}`);
}

function guardContent(given: ContentOutcome): ContentOutcome {
  mustBePlain(given, 'call.content');
  const own: Mutable<ContentOutcome> = { ...given };
  mustBe(CONTENT_OUTCOME.fields.action.shape.values, own.action, 'call.content.action');
  own.findings = guardTexts(own.findings, 'call.content.findings', FINDINGS);
  return own;
}

interface TextLimits {
  readonly itemsMax: number;
  readonly lengthMax: number;
}
const CLASSES: TextLimits = { itemsMax: CLASSES_MAX, lengthMax: CLASS_LENGTH_MAX };
const FINDINGS: TextLimits = { itemsMax: FINDINGS_MAX, lengthMax: FINDING_LENGTH_MAX };

function guardClasses(given: readonly string[], field: string): readonly string[] {
  return guardTexts(given, field, CLASSES);
}

/** A list of its own, so that what was checked is what is written. */
function guardTexts(
  given: readonly string[],
  field: string,
  { itemsMax, lengthMax }: TextLimits,
): readonly string[] {
  if (!Array.isArray(given) || given.length > itemsMax) {
    throw new MalformedEvent(field, `a list of at most ${itemsMax}`);
  }
  const texts: string[] = [];
  for (let index = 0; index < given.length; index++) {
    const text: unknown = given[index];
    if (typeof text !== 'string' || text === '' || isLonger(text, lengthMax)) {
      throw new MalformedEvent(field, `a list of strings of 1 to ${lengthMax} characters`);
    }
    texts.push(text);
  }
  return texts;
}

interface Preview {
  readonly truncated: boolean;
  readonly previews_dropped?: boolean;
}

/** The truncation contract: what was not inspected says so, … */
function guardPreview(preview: Preview, bytes: number, limits: InspectLimits): void {
  const { truncated, previews_dropped } = preview;
  mustFlag(truncated, 'preview.truncated');
  if (previews_dropped !== undefined) mustFlag(previews_dropped, 'preview.previews_dropped');
  if (bytes > limits.inspectBytesMax && !truncated) {
    throw new MalformedEvent('preview.truncated', 'true above the limit of inspection');
  }
}

/** … is not shown, and what is shown stays small. */
function guardPreviewText(text: string | undefined, bytes: number, limits: InspectLimits): void {
  if (text === undefined || text === TRUNCATED_PREVIEW) return;
  if (bytes > limits.inspectBytesMax) {
    throw new MalformedEvent('preview', `absent or ${TRUNCATED_PREVIEW} above that limit`);
  }
  const { previewBytesMax, utf8Bytes } = limits;
  if (typeof text !== 'string' || !fitsBytes(text, previewBytesMax, utf8Bytes)) {
    throw new MalformedEvent('preview', `a text of at most ${limits.previewBytesMax} bytes`);
  }
}
