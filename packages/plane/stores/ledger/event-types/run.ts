import type { PolicyRef } from '@subluminal/contracts';
import { plural } from '@subluminal/core/plural';
import { addPolicy } from '../store/projection.ts';
import { bad, calm, type EventMember } from './types.ts';

export const runStart: EventMember<'run_start'> = {
  project(into, event, { run, atMs }) {
    const { started_at, mode, policy, meta } = event.run;
    const startedMs = Date.parse(started_at);
    run.started_at = Math.min(Number(run.started_at ?? startedMs), startedMs);
    const metadata = { ...(meta && { meta }), ...(event.workload && { workload: event.workload }) };
    Object.assign(run, { mode, ...policyColumns(policy), metadata_json: JSON.stringify(metadata) });
    addPolicy(into, policy, { mode, created_at: atMs });
  },
  notice({ agent_id, client, env, run }, { runName }) {
    const { policy_id, policy_version } = run.policy;
    const who = `${agent_id} (${client}, ${env})`;
    return calm('▶', `run ${runName} of ${who}, ${run.mode} by ${policy_id} ${policy_version}`);
  },
};

/** Of what later versions may add, nothing is kept. */
function policyColumns({ policy_id, policy_version, policy_hash }: PolicyRef) {
  return { policy_id, policy_version, policy_hash };
}

export const runEnd: EventMember<'run_end'> = {
  project(_into, event, { run }) {
    const { ended_at, status, summary } = event.run;
    const summary_json = JSON.stringify(summary);
    Object.assign(run, { ended_at: Date.parse(ended_at), status, summary_json });
  },
  notice({ run }, { runName }) {
    const { calls_total, calls_allowed, calls_blocked, calls_throttled, errors_total } =
      run.summary;
    const parts = [
      plural(calls_total, 'call'),
      `${calls_allowed} allowed`,
      `${calls_blocked} blocked`,
      `${calls_throttled} throttled`,
      plural(errors_total, 'error'),
      `${(run.summary.duration_ms / 1_000).toFixed(1)} s`,
    ];
    const text = `run ${runName} ${run.status}: ${parts.join(', ')}`;
    const isFine = run.status === 'SUCCEEDED' || run.status === 'CANCELLED';
    return isFine ? calm('□', text) : bad('□', text);
  },
};
