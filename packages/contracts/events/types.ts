// Contract A: every event type, as its envelope and its own fields.
import { HINT, MODE, POLICY_REF } from '../decision/decision.ts';
import {
  boolean,
  type Fields,
  formatted,
  type Infer,
  integer,
  json,
  type ObjectShape,
  oneOf,
  open,
  optional,
  record,
  required,
  string,
  variant,
} from '../shape/shape.ts';
import {
  APPROVAL_STEP,
  BREAKER_TRIP,
  SECRET_INJECTION,
  SHIM_HEALTH,
  SURFACE_NOTICE,
} from './bodies.ts';
import {
  CALL_ERROR,
  CALL_STATUS,
  DECIDED_CALL,
  ENDED_CALL,
  EVENT_DECISION,
  RESULT_PREVIEW,
  STARTED_CALL,
} from './call.ts';
import { ENVELOPE_FIELDS } from './envelope.ts';

const RUN_STATUS = oneOf('SUCCEEDED', 'FAILED', 'TERMINATED', 'CANCELLED');
export const COUNTER_SCOPE = oneOf('run', 'shim');

const count = integer({ min: 0 });

const RUN_STARTED = open({
  started_at: required(formatted('rfc3339'), 'When the run began.'),
  mode: required(MODE, 'How far the policy goes.'),
  policy: required(POLICY_REF, 'The policy in force.'),
  meta: optional(record(json()), 'Anything else worth knowing: issue, repository, task type.'),
});

const RUN_SUMMARY = open({
  calls_total: required(count, 'All calls.'),
  calls_allowed: required(count, 'Calls that were forwarded.'),
  calls_blocked: required(count, 'Calls that were refused, by whatever action but THROTTLE.'),
  calls_throttled: required(count, 'Calls that were told to wait.'),
  errors_total: required(count, 'Forwarded calls that failed.'),
  duration_ms: required(count, 'From start to end.'),
});

const RUN_ENDED = open({
  ended_at: required(formatted('rfc3339'), 'When the run ended.'),
  status: required(RUN_STATUS, 'How it ended.'),
  summary: required(RUN_SUMMARY, 'What it did.'),
});

/** The fields of each event type besides the envelope. */
export const EVENT_BODIES = {
  run_start: { run: required(RUN_STARTED, 'The run that begins.') },
  tool_call_start: { call: required(STARTED_CALL, 'The call that begins.') },
  tool_call_decision: {
    call: required(DECIDED_CALL, 'The call that was decided.'),
    decision: required(EVENT_DECISION, 'What was decided.'),
    counter_scope: optional(
      COUNTER_SCOPE,
      'Since 0.2.0: what the counters of run scope really covered; `shim` without a hub.',
    ),
  },
  tool_call_end: {
    call: required(ENDED_CALL, 'The call that ended.'),
    status: required(CALL_STATUS, 'How it ended.'),
    latency_ms: required(count, 'From request to answer.'),
    bytes_out: required(count, 'The size of the answer.'),
    preview: required(RESULT_PREVIEW, 'What the result looked like.'),
    error: optional(CALL_ERROR, 'What went wrong, when the status is not OK.'),
    result_stream_hash: optional(
      formatted('sha256'),
      'Since 0.2.0: SHA-256 of the raw bytes of an answer that was not inspected.',
    ),
  },
  run_end: { run: required(RUN_ENDED, 'The run that ended.') },
  hint_issued: {
    call: required(
      open({ call_id: required(string(), 'The call; unique within the run.') }),
      'The call that was hinted.',
    ),
    hint: required(HINT, 'The hint, as the agent got it.'),
  },
  policy_loaded: {
    policy: required(POLICY_REF, 'The policy now in force.'),
    mode: required(MODE, 'How far it goes.'),
    reload: optional(boolean(), 'Whether it replaced another one while running.'),
    document: optional(
      record(json()),
      'Since 0.2.0: the compiled policy itself, as its hash covers it; left out when it is large.',
    ),
  },
  secret_injection: { secret: required(SECRET_INJECTION, 'Which secret, never its value.') },
  shim_health: { health: required(SHIM_HEALTH, 'How the shim is doing.') },
  breaker_trip: { breaker: required(BREAKER_TRIP, 'Which breaker tripped, and why.') },
  approval: {
    call: required(
      open({ call_id: required(string(), 'The call; unique within the run.') }),
      'The call that a person is asked about.',
    ),
    approval: required(APPROVAL_STEP, 'Since 0.2.0: what was asked, or what came of it.'),
  },
  surface: {
    surface: required(
      SURFACE_NOTICE,
      'Since 0.2.0: what a server shows, and what is odd about it.',
    ),
  },
} as const;

function eventOf<T extends string, F extends Fields>(type: T, body: F) {
  return open({ ...ENVELOPE_FIELDS, type: required(oneOf(type), 'The type.'), ...body });
}

export const EVENT = variant('type', {
  run_start: eventOf('run_start', EVENT_BODIES.run_start),
  tool_call_start: eventOf('tool_call_start', EVENT_BODIES.tool_call_start),
  tool_call_decision: eventOf('tool_call_decision', EVENT_BODIES.tool_call_decision),
  tool_call_end: eventOf('tool_call_end', EVENT_BODIES.tool_call_end),
  run_end: eventOf('run_end', EVENT_BODIES.run_end),
  hint_issued: eventOf('hint_issued', EVENT_BODIES.hint_issued),
  policy_loaded: eventOf('policy_loaded', EVENT_BODIES.policy_loaded),
  secret_injection: eventOf('secret_injection', EVENT_BODIES.secret_injection),
  shim_health: eventOf('shim_health', EVENT_BODIES.shim_health),
  breaker_trip: eventOf('breaker_trip', EVENT_BODIES.breaker_trip),
  approval: eventOf('approval', EVENT_BODIES.approval),
  surface: eventOf('surface', EVENT_BODIES.surface),
});

export type EventType = keyof typeof EVENT_BODIES;
export type EventOf<T extends EventType> = Infer<(typeof EVENT)['cases'][T]>;
/** Case by case: all of `EVENT` at once is so deep that the compiler gives up on some days. */
export type Event =
  | EventOf<'run_start'>
  | EventOf<'tool_call_start'>
  | EventOf<'tool_call_decision'>
  | EventOf<'tool_call_end'>
  | EventOf<'run_end'>
  | EventOf<'hint_issued'>
  | EventOf<'policy_loaded'>
  | EventOf<'secret_injection'>
  | EventOf<'shim_health'>
  | EventOf<'breaker_trip'>
  | EventOf<'approval'>
  | EventOf<'surface'>;
type BodyOf<F extends Fields> = Infer<ObjectShape<F>>;
/** Spelled out: the compiler gives up on a mapped type that is indexed by a type parameter. */
export interface EventBodies {
  readonly run_start: BodyOf<(typeof EVENT_BODIES)['run_start']>;
  readonly tool_call_start: BodyOf<(typeof EVENT_BODIES)['tool_call_start']>;
  readonly tool_call_decision: BodyOf<(typeof EVENT_BODIES)['tool_call_decision']>;
  readonly tool_call_end: BodyOf<(typeof EVENT_BODIES)['tool_call_end']>;
  readonly run_end: BodyOf<(typeof EVENT_BODIES)['run_end']>;
  readonly hint_issued: BodyOf<(typeof EVENT_BODIES)['hint_issued']>;
  readonly policy_loaded: BodyOf<(typeof EVENT_BODIES)['policy_loaded']>;
  readonly secret_injection: BodyOf<(typeof EVENT_BODIES)['secret_injection']>;
  readonly shim_health: BodyOf<(typeof EVENT_BODIES)['shim_health']>;
  readonly breaker_trip: BodyOf<(typeof EVENT_BODIES)['breaker_trip']>;
  readonly approval: BodyOf<(typeof EVENT_BODIES)['approval']>;
  readonly surface: BodyOf<(typeof EVENT_BODIES)['surface']>;
}
export type EventBody<T extends EventType> = EventBodies[T];
