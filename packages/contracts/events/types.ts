// Contract A: the registry of event types. An event is its envelope and the fields of its type.
import {
  type Fields,
  type Infer,
  type ObjectShape,
  oneOf,
  open,
  required,
  variant,
} from '../shape/shape.ts';
import { APPROVAL } from './approval.ts';
import { BREAKER_TRIP } from './breaker-trip.ts';
import type { CallSubject } from './call.ts';
import { CHANGE_DECISION } from './change-decision.ts';
import { ENVELOPE_FIELDS } from './envelope.ts';
import { HINT_ISSUED } from './hint-issued.ts';
import { POLICY_LOADED } from './policy-loaded.ts';
import { RUN_END, RUN_START } from './run.ts';
import { SECRET_INJECTION } from './secret-injection.ts';
import { SHIM_HEALTH } from './shim-health.ts';
import { SURFACE } from './surface.ts';
import { TOOL_CALL_DECISION, TOOL_CALL_END, TOOL_CALL_START } from './tool-call.ts';
import { TURN_DECISION, TURN_END, TURN_START } from './turn.ts';

/** The fields of each event type besides the envelope. */
export const EVENT_BODIES = {
  run_start: RUN_START,
  tool_call_start: TOOL_CALL_START,
  tool_call_decision: TOOL_CALL_DECISION,
  tool_call_end: TOOL_CALL_END,
  run_end: RUN_END,
  hint_issued: HINT_ISSUED,
  policy_loaded: POLICY_LOADED,
  secret_injection: SECRET_INJECTION,
  shim_health: SHIM_HEALTH,
  breaker_trip: BREAKER_TRIP,
  approval: APPROVAL,
  surface: SURFACE,
  change_decision: CHANGE_DECISION,
  turn_start: TURN_START,
  turn_decision: TURN_DECISION,
  turn_end: TURN_END,
} as const;

type BodyOf<F extends Fields> = Infer<ObjectShape<F>>;
type Bodies = typeof EVENT_BODIES;
/** Spelled out: the compiler gives up on a mapped type that is indexed by a type parameter. */
interface EventBodies {
  readonly run_start: BodyOf<Bodies['run_start']>;
  readonly tool_call_start: BodyOf<Bodies['tool_call_start']>;
  readonly tool_call_decision: BodyOf<Bodies['tool_call_decision']>;
  readonly tool_call_end: BodyOf<Bodies['tool_call_end']>;
  readonly run_end: BodyOf<Bodies['run_end']>;
  readonly hint_issued: BodyOf<Bodies['hint_issued']>;
  readonly policy_loaded: BodyOf<Bodies['policy_loaded']>;
  readonly secret_injection: BodyOf<Bodies['secret_injection']>;
  readonly shim_health: BodyOf<Bodies['shim_health']>;
  readonly breaker_trip: BodyOf<Bodies['breaker_trip']>;
  readonly approval: BodyOf<Bodies['approval']>;
  readonly surface: BodyOf<Bodies['surface']>;
  readonly change_decision: BodyOf<Bodies['change_decision']>;
  readonly turn_start: BodyOf<Bodies['turn_start']>;
  readonly turn_decision: BodyOf<Bodies['turn_decision']>;
  readonly turn_end: BodyOf<Bodies['turn_end']>;
}

export type EventType = keyof EventBodies;
export type EventBody<T extends EventType> = EventBodies[T];
type Envelope = BodyOf<typeof ENVELOPE_FIELDS>;
export type EventOf<T extends EventType> = {
  [K in T]: Envelope & { readonly type: K } & EventBodies[K];
}[T];
export type Event = EventOf<EventType>;

/** The whole shape of an event: its envelope, its type and the fields of its body. */
export function eventShape(type: string, body: Fields): ObjectShape {
  return open({ ...ENVELOPE_FIELDS, type: required(oneOf(type), 'The type.'), ...body });
}

const SHAPES: { readonly [type: string]: ObjectShape } = Object.fromEntries(
  Object.entries(EVENT_BODIES).map(([type, body]) => [type, eventShape(type, body)]),
);

export const EVENT = variant('type', SHAPES);

const CALL_TYPES = [
  ...(['tool_call_start', 'tool_call_decision', 'tool_call_end'] as const),
  ...(['turn_start', 'turn_decision', 'turn_end'] as const),
];
type CallEventType = (typeof CALL_TYPES)[number];

export type CallEvent = EventOf<CallEventType>;

/** Whether an event of this type starts, decides or ends a call. */
export function isCallType(type: string): type is CallEventType {
  return CALL_TYPES.some((one) => one === type);
}

export function isCallEvent(event: Event): event is CallEvent {
  return isCallType(event.type);
}

/** What the call of an event is about. */
export function callSubject(event: CallEvent): CallSubject {
  switch (event.type) {
    case 'turn_start':
    case 'turn_decision':
    case 'turn_end':
      return { kind: 'turn', provider: event.call.provider, model: event.call.model };
    default: {
      const { server_name, tool_name, args_hash } = event.call;
      return { kind: 'tool_call', server_name, tool_name, args_hash };
    }
  }
}

/** The names of a call: server and tool, or provider and model. */
export function subjectNames(subject: CallSubject): readonly [owner: string, name: string] {
  return subject.kind === 'turn'
    ? [subject.provider, subject.model]
    : [subject.server_name, subject.tool_name];
}
