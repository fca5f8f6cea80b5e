// A call as the rules see it → the same call as Cedar policies see it.
import type { JsonObject } from '@subluminal/contracts';
import type { Call } from '@subluminal/core/policy';
import type { CedarRequest } from './types.ts';

export interface CalledAt {
  readonly riskClass: readonly string[];
  readonly nowMs: number;
}

/** It is the agent who acts; for whom and in what it runs are in the context. */
export function cedarRequest(call: Call, { riskClass, nowMs }: CalledAt): CedarRequest {
  const { identity, server_name, tool_name, args } = call;
  const { agent_id: agent, client, env, run_id: run, principal } = identity;
  const workload = identity.workload && workloadName(identity.workload);
  return {
    principal: { kind: 'agent', id: agent },
    server: server_name,
    tool: tool_name,
    ...(args !== undefined && { args }),
    env,
    client,
    run,
    agent,
    ...(principal !== undefined && { user: principal }),
    ...(workload !== undefined && { workload }),
    risk: riskClass,
    nowMs,
  };
}

/** `namespace/account` of Kubernetes, or `provider/repository` of a CI job; else it has no name. */
function workloadName(workload: JsonObject): string | undefined {
  const { namespace, service_account, ci_provider, repo } = workload;
  if (typeof namespace === 'string' && typeof service_account === 'string') {
    return `${namespace}/${service_account}`;
  }
  const isJob = typeof ci_provider === 'string' && typeof repo === 'string';
  return isJob ? `${ci_provider}/${repo}` : undefined;
}
