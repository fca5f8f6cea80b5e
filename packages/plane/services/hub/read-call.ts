// From a request for evaluation to the call that a policy decides.
import {
  definedFields,
  type EvaluateRequest,
  isJsonObject,
  isObject,
  type JsonObject,
  type Profile,
} from '@subluminal/contracts';
import { type Call, subjectOf } from '@subluminal/core/policy';

export interface AskedCall {
  readonly callId: string;
  readonly policyHash: string;
  readonly profile: Profile;
  readonly call: Call;
  /** The parameters beside its arguments. */
  readonly beside: unknown;
  readonly limits: EvaluateRequest['limits'];
}

/** Stands in place of a method: a turn goes to a provider (`server_id`) and its model (`tool_name`). */
export const TURN_METHOD = 'turn';

const NEEDED = [
  'call_id',
  'policy_hash',
  'tool_name',
  'args_hash',
  'bytes_in',
  'identity',
] as const;

type CompleteRequest = EvaluateRequest & Required<Pick<EvaluateRequest, (typeof NEEDED)[number]>>;

/** Accepts only requests that have all fields that a rule may need; the text of a refusal otherwise. */
export function readCall(request: EvaluateRequest, runId: string): AskedCall | string {
  const { direction, message_type, method } = request;
  const subject = method === TURN_METHOD ? 'turn' : subjectOf(method);
  const isDecided = subject !== undefined || method === 'tools/call';
  if (direction !== 'agent_to_server' || message_type !== 'request' || !isDecided) {
    return 'only requests of tools, resources, prompts and models by the agent are decided here';
  }
  if (request.run_id !== runId) return 'the call is not of the run of this hub';
  if (!isComplete(request)) {
    return `\`${NEEDED.find((field) => request[field] === undefined)}\` is missing`;
  }
  const { tool_name, args_hash, bytes_in, identity, params, cost_micros } = request;
  // No parameters at all mean that nobody has inspected them; no arguments mean that there are none.
  let args: JsonObject | undefined;
  if (params !== undefined) {
    if (!isObject(params)) return '`params` must be an object';
    if (params['name'] !== tool_name) return '`params.name` is not `tool_name`';
    const given = params['arguments'] ?? {};
    if (!isJsonObject(given)) return '`params.arguments` must be an object';
    args = given;
  }
  const { approved = [], beside, round, limits } = request;
  const call: Call = {
    identity: { ...identity, run_id: runId },
    server_name: request.server_id,
    tool_name,
    subject,
    args_hash,
    bytes_in,
    ...(cost_micros !== undefined && { cost_micros }),
    ...(args !== undefined && { args }),
    ...(approved.length > 0 && { approved }),
    round,
  };
  const { call_id: callId, policy_hash: policyHash, profile } = request;
  return { callId, policyHash, profile, call, beside, limits };
}

function isComplete(request: EvaluateRequest): request is CompleteRequest {
  return NEEDED.every((field) => request[field] !== undefined);
}

/** What is remembered of a call: its arguments may be large. */
export function withoutArgs(call: Call): Call {
  const { identity, server_name, tool_name, subject, args_hash, bytes_in, cost_micros } = call;
  const { approved, round } = call;
  const rest = { identity, server_name, tool_name, subject, args_hash, bytes_in, round };
  return { ...rest, ...definedFields({ cost_micros, approved }) };
}
