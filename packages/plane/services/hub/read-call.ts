// From a request for evaluation to the call that a policy decides.
import { type EvaluateRequest, isObject, type JsonObject } from '@subluminal/contracts';
import type { Call } from '@subluminal/core/policy';

export interface AskedCall {
  readonly callId: string;
  readonly policyHash: string;
  readonly call: Call;
  /** What stands beside its arguments. */
  readonly beside: unknown;
  readonly limits: EvaluateRequest['limits'];
}

type ReadCall =
  | { readonly ok: true; readonly asked: AskedCall }
  | { readonly ok: false; readonly message: string };

/** Only tool calls are decided here, and only with all that a rule may look at. */
export function readCall(request: EvaluateRequest, runId: string): ReadCall {
  const { direction, message_type, method } = request;
  if (direction !== 'agent_to_server' || message_type !== 'request' || method !== 'tools/call') {
    return refused('only requests of tools/call by the agent are decided here');
  }
  if (request.run_id !== runId) return refused('the call is not of the run of this hub');
  const { call_id, policy_hash, tool_name, args_hash, bytes_in, identity } = request;
  if (call_id === undefined) return missing('call_id');
  if (policy_hash === undefined) return missing('policy_hash');
  if (tool_name === undefined) return missing('tool_name');
  if (args_hash === undefined) return missing('args_hash');
  if (bytes_in === undefined) return missing('bytes_in');
  if (identity === undefined) return missing('identity');
  const inspected = readArgs(request.params, tool_name);
  if (!inspected.ok) return inspected;
  const { args } = inspected;
  const { approved = [], beside, round, limits } = request;
  const call: Call = {
    identity: { ...identity, run_id: runId },
    server_name: request.server_id,
    tool_name,
    args_hash,
    bytes_in,
    ...(args !== undefined && { args }),
    ...(approved.length > 0 && { approved }),
    round,
  };
  const asked = { callId: call_id, policyHash: policy_hash, call, beside, limits };
  return { ok: true, asked };
}

type ReadArgs =
  | { readonly ok: true; readonly args?: JsonObject }
  | { readonly ok: false; readonly message: string };

/** No parameters at all mean that nobody has inspected them; no arguments mean that there are none. */
function readArgs(params: unknown, toolName: string): ReadArgs {
  if (params === undefined) return { ok: true };
  if (!isObject(params)) return refused('`params` must be an object');
  if (params['name'] !== toolName) return refused('`params.name` is not `tool_name`');
  const args = params['arguments'] ?? {};
  return isJsonObject(args) ? { ok: true, args } : refused('`params.arguments` must be an object');
}

/** An object that JSON.parse has made holds nothing but JSON. */
function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function missing(field: string): { readonly ok: false; readonly message: string } {
  return refused(`\`${field}\` is missing`);
}

function refused(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
