// The hub's HTTP API: what a shim asks of the process that all shims of a run share.
import { DECISION, PROFILE } from './decision/decision.ts';
import { CONTENT_OUTCOME, COUNTER_SCOPE } from './events/call.ts';
import { CLIENT, ENV, WORKLOAD } from './events/envelope.ts';
import { CALL_LIMIT, DIRECTION, LIMIT_WAIT, SHIM_COUNTS, TRACE_STEP } from './hub-counts.ts';
import { parserFor } from './shape/check.ts';
import {
  array,
  boolean,
  either,
  formatted,
  type Infer,
  integer,
  json,
  nullable,
  type ObjectShape,
  oneOf,
  open,
  optional,
  record,
  required,
  string,
} from './shape/shape.ts';
import { SNAPSHOT_FILE } from './snapshot.ts';

/** How a shim waits for its hub before the first message (F-016a). */
export const HUB_READINESS = { attemptsMax: 20, backoffFirstMs: 50, backoffMaxMs: 2_000 } as const;

/** How long a request may take (F-016b). A heartbeat is as urgent as an evaluation. */
export const HUB_TIMEOUTS = {
  evaluate: { connectMs: 500, totalMs: 2_000 },
  task: { connectMs: 500, totalMs: 5_000 },
  heartbeat: { connectMs: 500, totalMs: 2_000 },
  /** Reading a long answer takes a while, and an answer that is late is better than none. */
  observe: { connectMs: 500, totalMs: 10_000 },
} as const;

/** An idle shim shows that it lives this often (F-016). */
export const HUB_HEARTBEAT_INTERVAL_MS = 5_000;

const IDENTITY = open({
  agent_id: required(string(), 'The agent.'),
  client: required(CLIENT, 'The agent client.'),
  env: required(ENV, 'The environment.'),
  principal: optional(string(), 'Who started the run.'),
  workload: optional(WORKLOAD, 'What the agent runs in.'),
});

const EVALUATE_REQUEST = open({
  server_id: required(string(), 'The server behind the shim, as it is configured.'),
  direction: required(DIRECTION, 'Which way it goes.'),
  method: required(
    string({ lengthMin: 0 }),
    'The JSON-RPC method; of a response, what it answers.',
  ),
  id: optional(nullable(either(string({ lengthMin: 0 }), integer())), 'The JSON-RPC id, if any.'),
  params: optional(json(), 'The parameters, if any.'),
  message_type: required(oneOf('request', 'response', 'notification'), 'What it is.'),
  profile: required(PROFILE, 'Whether decisions are enforced.'),
  run_id: optional(string(), 'Since 0.2.0: the run whose counters are shared.'),
  identity: optional(IDENTITY, 'Since 0.2.0: who acts.'),
  call_id: optional(string(), 'Since 0.2.0: the call.'),
  tool_name: optional(string(), 'Since 0.2.0: the tool, as the server calls it.'),
  args_hash: optional(formatted('sha256'), 'Since 0.2.0: the hash of the canonical arguments.'),
  call_decision: optional(DECISION, 'Since 0.2.0: what the shim decided by itself.'),
  policy_hash: optional(formatted('sha256'), 'Since 0.2.0: the policy to decide by.'),
  bytes_in: optional(integer({ min: 0 }), 'Since 0.2.0: the size of the message.'),
  cost_micros: optional(
    integer({ min: 0 }),
    'Since 0.2.0: what a turn may cost, in millionths of a dollar; absent where no price is known.',
  ),
  approved: optional(
    array(string(), { itemsMax: 1_000 }),
    'Since 0.2.0: the approval rules that a person has satisfied for this call.',
  ),
  beside: optional(
    json(),
    'Since 0.2.0: what stands in the message beside the name and the arguments.',
  ),
  limits: optional(
    array(CALL_LIMIT, { itemsMax: 64 }),
    'Since 0.2.0: the limits of the manifest that this call counts for.',
  ),
  round: optional(
    string({ lengthMax: 256 }),
    'Since 0.2.0: which request of the server for input this call answers: a further round, no repeat.',
  ),
});

const HUB_DECISION = oneOf('forward', 'deny', 'pending_approval');

const NEEDS_POLICY = 'Since 0.2.0: the hub does not have that policy; send it, then ask again.';

const ANSWER_FIELDS = {
  decision: required(HUB_DECISION, 'What the shim does with the message.'),
  task_id: optional(nullable(string()), 'With `pending_approval`: what to poll.'),
  policy_id: optional(nullable(string()), 'The policy that decided.'),
  reason: optional(nullable(string({ lengthMin: 0 })), 'The reason for a person.'),
  poll_interval_ms: optional(
    nullable(integer({ min: 0 })),
    'With `pending_approval`: how often to poll.',
  ),
  shutdown: required(boolean(), 'True: finish what is in flight and stop.'),
  call_decision: optional(DECISION, 'Since 0.2.0: the decision as contract C has it.'),
  counter_scope: optional(COUNTER_SCOPE, 'Since 0.2.0: what the counters covered.'),
  risk_class: optional(array(string()), 'Since 0.2.0: the risk classes the call ended up with.'),
  trace: optional(array(TRACE_STEP), 'Since 0.2.0: what each matching rule said.'),
  needs_policy: optional(boolean(), NEEDS_POLICY),
  limits_counted: optional(
    boolean(),
    'Since 0.2.0: the limits in the question let the call pass, and have counted it.',
  ),
  limit_wait: optional(
    LIMIT_WAIT,
    'Since 0.2.0: a limit of the manifest that does not let the call pass yet; it was not counted.',
  ),
  content: optional(
    CONTENT_OUTCOME,
    'Since 0.2.0: what the arguments have to do with what was read.',
  ),
} as const;

const PENDING_NEEDS = [{ field: 'decision', is: 'pending_approval', needs: ['task_id'] }] as const;

const EVALUATE_RESPONSE = open(ANSWER_FIELDS, PENDING_NEEDS);

const TASK_RESPONSE = open(
  {
    ...ANSWER_FIELDS,
    state: optional(
      oneOf('pending', 'approved', 'rejected', 'expired', 'cancelled'),
      'Since 0.2.0: how far the approval is.',
    ),
    decided_by: optional(nullable(string()), 'Since 0.2.0: who decided.'),
    auto_approved: optional(boolean(), 'Since 0.2.0: approved by the development profile.'),
  },
  PENDING_NEEDS,
);

/** The counts of one shim, as `run_end` has them for the run. */
const SHIM_SUMMARY = open({
  calls_total: required(integer({ min: 0 }), 'All calls.'),
  calls_allowed: required(integer({ min: 0 }), 'Calls that were forwarded.'),
  calls_blocked: required(integer({ min: 0 }), 'Calls that were refused.'),
  calls_throttled: required(integer({ min: 0 }), 'Calls that were told to wait.'),
  errors_total: required(integer({ min: 0 }), 'Forwarded calls that failed.'),
  calls_spared: optional(
    integer({ min: 0 }),
    'Since 0.2.0: forwarded calls that an enforcing policy would have refused.',
  ),
  answers_held_back: optional(
    integer({ min: 0 }),
    'Since 0.2.0: answers to forwarded calls that the agent did not get.',
  ),
});

/** It names options and files of an entry. */
export const HUB_UNLIKE_LENGTH_MAX = 8_192;

const HEARTBEAT_REQUEST = open({
  server_id: required(string(), 'The server behind the shim.'),
  run_id: optional(string(), 'Since 0.2.0: the run.'),
  shim_id: optional(string(), 'Since 0.2.0: the shim.'),
  summary: optional(SHIM_SUMMARY, 'Since 0.2.0: what the shim has counted so far.'),
  counts: optional(SHIM_COUNTS, 'Since 0.2.0: what the shim has counted for the metrics.'),
  leaving: optional(boolean(), 'Since 0.2.0: the shim ends; this is its last word.'),
  unlike_run: optional(
    string({ lengthMax: HUB_UNLIKE_LENGTH_MAX }),
    'Since 0.2.0: how the shim is looser than its run; with `leaving`, why its server did not start.',
  ),
});

const POLICY_RESPONSE = open({
  accepted: required(boolean(), 'Whether the hub can decide by it now.'),
  reason: optional(nullable(string({ lengthMin: 0 })), 'Why not.'),
});

const RESULT_REQUEST = open({
  run_id: required(string(), 'The run.'),
  call_id: required(string(), 'The call, as it was evaluated.'),
  result: required(oneOf('ok', 'error'), 'How the server answered it.'),
});

/** The longest part of an answer that the hub looks at; the shim reports when it cut the answer. */
export const HUB_OBSERVED_CHARS_MAX = 1_048_576;

const OBSERVE_REQUEST = open({
  run_id: required(string(), 'The run.'),
  server_id: required(string(), 'The server that has answered.'),
  policy_hash: required(formatted('sha256'), 'The policy that says whether it is trusted.'),
  call_id: required(string({ lengthMin: 0 }), 'The call; empty when it was no call of a tool.'),
  tool_name: required(string(), 'The tool, or the method when it was no call of a tool.'),
  text: required(
    string({ lengthMin: 0, lengthMax: 8 * HUB_OBSERVED_CHARS_MAX }),
    'The result as JSON. What is longer than 1 MiB, or no JSON, is remembered as far as it goes.',
  ),
  partial: optional(boolean(), 'True: the agent gets more than this text says.'),
});

const OBSERVE_RESPONSE = open({
  heard: required(boolean(), 'Whether later calls are held against it.'),
  needs_policy: optional(boolean(), NEEDS_POLICY),
  shutdown: required(boolean(), 'True: finish what is in flight and stop.'),
});

const TERMINATE_REQUEST = open({
  run_id: required(string(), 'The run that ends.'),
  code: required(string(), 'The code of the rule that ended it.'),
  message: required(string({ lengthMin: 0 }), 'The reason for a person.'),
  server_id: optional(string(), 'The server whose call ended it.'),
});

const HEARTBEAT_RESPONSE = open({
  shutdown: required(boolean(), 'True: finish what is in flight and stop.'),
});

const HEALTH_RESPONSE = open({
  status: required(oneOf('ok', 'stopping'), 'Whether the hub takes new work.'),
  v: optional(formatted('pack_version'), 'The version of the interface pack.'),
  judges: optional(
    array(string(), { itemsMax: 16 }),
    'Since 0.2.0: what else decides here, so that every call must be asked for: `cedar`.',
  ),
  profile: optional(PROFILE, 'Since 0.2.0: the profile of the run.'),
  policy_hash: optional(
    formatted('sha256'),
    'Since 0.2.0: the policy that the run began with, if it has one.',
  ),
  policy_reload: optional(
    oneOf('any', 'tighten', 'off'),
    'Since 0.2.0: which changes of that policy the shims take.',
  ),
  settings: optional(
    record(string({ lengthMin: 0 })),
    'Since 0.2.0: other settings that every shim of the run has, by name.',
  ),
});

interface HubEndpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly request?: ObjectShape;
  /** `text` is Prometheus' text format. */
  readonly response: ObjectShape | 'text';
}

function get<R extends HubEndpoint['response']>(path: string, response: R) {
  return { method: 'GET', path, response } as const;
}

function post<Q extends ObjectShape, R extends ObjectShape>(path: string, request: Q, response: R) {
  return { method: 'POST', path, request, response } as const;
}

/** What each is for is in docs/reference/contracts.md. */
export const HUB_ENDPOINTS = {
  health: get('/healthz', HEALTH_RESPONSE),
  evaluate: post('/governance/evaluate', EVALUATE_REQUEST, EVALUATE_RESPONSE),
  task: get('/governance/task/{task_id}', TASK_RESPONSE),
  heartbeat: post('/governance/heartbeat', HEARTBEAT_REQUEST, HEARTBEAT_RESPONSE),
  policy: post('/governance/policy', SNAPSHOT_FILE, POLICY_RESPONSE),
  result: post('/governance/result', RESULT_REQUEST, HEARTBEAT_RESPONSE),
  observe: post('/governance/observe', OBSERVE_REQUEST, OBSERVE_RESPONSE),
  terminate: post('/governance/terminate', TERMINATE_REQUEST, HEARTBEAT_RESPONSE),
  metrics: get('/metrics', 'text'),
} as const satisfies { readonly [name: string]: HubEndpoint };

export type EvaluateRequest = Infer<typeof EVALUATE_REQUEST>;
export type EvaluateResponse = Infer<typeof EVALUATE_RESPONSE>;
export type TaskResponse = Infer<typeof TASK_RESPONSE>;
export type HeartbeatRequest = Infer<typeof HEARTBEAT_REQUEST>;
export type HeartbeatResponse = Infer<typeof HEARTBEAT_RESPONSE>;
export type HealthResponse = Infer<typeof HEALTH_RESPONSE>;
export type PolicyResponse = Infer<typeof POLICY_RESPONSE>;
export type ResultRequest = Infer<typeof RESULT_REQUEST>;
export type ObserveRequest = Infer<typeof OBSERVE_REQUEST>;
export type ObserveResponse = Infer<typeof OBSERVE_RESPONSE>;
export type TerminateRequest = Infer<typeof TERMINATE_REQUEST>;
export type ShimSummary = Infer<typeof SHIM_SUMMARY>;
/** Of a shim that has done nothing. */
export const NO_CALLS: ShimSummary = {
  calls_total: 0,
  calls_allowed: 0,
  calls_blocked: 0,
  calls_throttled: 0,
  errors_total: 0,
};

export const parseEvaluateRequest = parserFor<EvaluateRequest>(EVALUATE_REQUEST);
export const parseEvaluateResponse = parserFor<EvaluateResponse>(EVALUATE_RESPONSE);
export const parseTaskResponse = parserFor<TaskResponse>(TASK_RESPONSE);
export const parseHeartbeatRequest = parserFor<HeartbeatRequest>(HEARTBEAT_REQUEST);
export const parseHeartbeatResponse = parserFor<HeartbeatResponse>(HEARTBEAT_RESPONSE);
export const parseHealthResponse = parserFor<HealthResponse>(HEALTH_RESPONSE);
export const parsePolicyResponse = parserFor<PolicyResponse>(POLICY_RESPONSE);
export const parseResultRequest = parserFor<ResultRequest>(RESULT_REQUEST);
export const parseObserveRequest = parserFor<ObserveRequest>(OBSERVE_REQUEST);
export const parseObserveResponse = parserFor<ObserveResponse>(OBSERVE_RESPONSE);
export const parseTerminateRequest = parserFor<TerminateRequest>(TERMINATE_REQUEST);
