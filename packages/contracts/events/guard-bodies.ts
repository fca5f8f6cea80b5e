// What must hold for the body of each event type before it is written.
import { ACTION, APPROVAL_REQUEST, HINT, SEVERITY, TERMINATE, WOULD } from '../decision.ts';
import { open } from '../shape.ts';
import { SECRET_INJECTION_WRITTEN } from './bodies.ts';
import {
  CALL_ERROR,
  CALL_STATUS,
  type CallRef,
  type EventDecision,
  type StartedCall,
  TRANSPORT,
  TRUNCATED_PREVIEW,
} from './call.ts';
import {
  fitsBytes,
  MalformedEvent,
  mustBe,
  mustCount,
  mustFit,
  mustFlag,
  mustHash,
  mustText,
} from './guards.ts';
import { COUNTER_SCOPE, EVENT_BODIES, type EventBodies, type EventType } from './types.ts';

/** The limits of inspection that the producer works with. */
interface InspectLimits {
  readonly inspectBytesMax: number;
  readonly previewBytesMax: number;
}

type Guards = {
  readonly [T in EventType]: (body: EventBodies[T], limits: InspectLimits) => void;
};

const SHAPES = {
  run_start: open(EVENT_BODIES.run_start),
  run_end: open(EVENT_BODIES.run_end),
  policy_loaded: open(EVENT_BODIES.policy_loaded),
  shim_health: open(EVENT_BODIES.shim_health),
  breaker_trip: open(EVENT_BODIES.breaker_trip),
} as const;

/** Three types are hot and checked by hand; the others are rare and get the full check. */
const GUARDS: Guards = {
  tool_call_start: (body, limits) => guardStart(body.call, limits),
  tool_call_decision: (body) => {
    guardCall(body.call);
    guardClasses(body.call.risk_class, 'call.risk_class');
    guardDecision(body.decision);
    if (body.counter_scope !== undefined) {
      mustBe(COUNTER_SCOPE.values, body.counter_scope, 'counter_scope');
    }
  },
  tool_call_end: guardEnd,
  hint_issued: (body) => {
    mustText(body.call.call_id, 'call.call_id');
    mustFit(HINT, body.hint, 'hint');
  },
  run_start: (body) => mustFit(SHAPES.run_start, body, 'run_start'),
  run_end: (body) => mustFit(SHAPES.run_end, body, 'run_end'),
  policy_loaded: (body) => mustFit(SHAPES.policy_loaded, body, 'policy_loaded'),
  secret_injection: (body) => mustFit(SECRET_INJECTION_WRITTEN, body.secret, 'secret'),
  shim_health: (body) => mustFit(SHAPES.shim_health, body, 'shim_health'),
  breaker_trip: (body) => mustFit(SHAPES.breaker_trip, body, 'breaker_trip'),
};

function guardCall(call: CallRef): void {
  mustText(call.call_id, 'call.call_id');
  mustText(call.server_name, 'call.server_name');
  mustText(call.tool_name, 'call.tool_name');
  mustHash(call.args_hash, 'call.args_hash');
}

function guardStart(call: StartedCall, limits: InspectLimits): void {
  guardCall(call);
  mustBe(TRANSPORT.values, call.transport, 'call.transport');
  mustCount(call.bytes_in, 'call.bytes_in');
  mustCount(call.seq, 'call.seq', 1);
  guardClasses(call.tags, 'call.tags');
  guardClasses(call.risk_class, 'call.risk_class');
  if (call.timeout_ms !== undefined) mustCount(call.timeout_ms, 'call.timeout_ms');
  if (call.args_stream_hash !== undefined) mustHash(call.args_stream_hash, 'call.args_stream_hash');
  guardPreview(call.preview, call.bytes_in, limits);
  guardPreviewText(call.preview.args_preview, call.bytes_in, limits);
}

function guardEnd(body: EventBodies['tool_call_end'], limits: InspectLimits): void {
  guardCall(body.call);
  mustBe(CALL_STATUS.values, body.status, 'status');
  mustCount(body.latency_ms, 'latency_ms');
  mustCount(body.bytes_out, 'bytes_out');
  if (body.result_stream_hash !== undefined) {
    mustHash(body.result_stream_hash, 'result_stream_hash');
  }
  guardPreview(body.preview, body.bytes_out, limits);
  guardPreviewText(body.preview.result_preview, body.bytes_out, limits);
  const { error } = body;
  if (error === undefined) return;
  if (body.status === 'OK') throw new MalformedEvent('error', 'absent when the status is OK');
  mustFit(CALL_ERROR, error, 'error');
}

function guardDecision(decision: EventDecision): void {
  const { action, rule_id, explain, policy, hint, terminate, approval, would } = decision;
  mustBe(ACTION.values, action, 'decision.action');
  mustBe(SEVERITY.values, decision.severity, 'decision.severity');
  if (rule_id !== null) mustText(rule_id, 'decision.rule_id');
  mustText(explain.summary, 'decision.explain.summary');
  mustText(explain.reason_code, 'decision.explain.reason_code');
  mustText(policy.policy_id, 'decision.policy.policy_id');
  mustText(policy.policy_version, 'decision.policy.policy_version');
  mustHash(policy.policy_hash, 'decision.policy.policy_hash');
  if (decision.backoff_ms !== undefined) mustCount(decision.backoff_ms, 'decision.backoff_ms');
  else mustNotBe(action, 'THROTTLE', 'backoff_ms');
  if (hint !== undefined) mustFit(HINT, hint, 'decision.hint');
  else mustNotBe(action, 'REJECT_WITH_HINT', 'hint');
  if (terminate !== undefined) mustFit(TERMINATE, terminate, 'decision.terminate');
  else mustNotBe(action, 'TERMINATE_RUN', 'terminate');
  if (approval !== undefined) mustFit(APPROVAL_REQUEST, approval, 'decision.approval');
  if (would !== undefined) mustFit(WOULD, would, 'decision.would');
}

function mustNotBe(action: string, needy: string, needed: string): void {
  if (action !== needy) return;
  throw new MalformedEvent(`decision.${needed}`, `there, because the action is ${needy}`);
}

function guardClasses(classes: readonly string[] | undefined, field: string): void {
  if (classes === undefined) return;
  if (!Array.isArray(classes) || classes.length > 1_000) {
    throw new MalformedEvent(field, 'a list of at most 1000');
  }
  for (const name of classes) {
    if (typeof name === 'string' && name.length > 0 && name.length <= 1_024) continue;
    throw new MalformedEvent(field, 'a list of strings of 1 to 1024 characters');
  }
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
  if (typeof text !== 'string' || !fitsBytes(text, limits.previewBytesMax)) {
    throw new MalformedEvent('preview', `a text of at most ${limits.previewBytesMax} bytes`);
  }
}

export type { InspectLimits };
export { GUARDS };
