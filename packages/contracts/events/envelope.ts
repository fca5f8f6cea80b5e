// The envelope, which every event has: producer, time, agent and run.
import { PROFILE } from '../decision/decision.ts';
import {
  closed,
  formatted,
  type Infer,
  oneOf,
  open,
  optional,
  record,
  required,
  string,
} from '../shape/shape.ts';

export const CLIENT = oneOf('claude', 'codex', 'headless', 'custom', 'unknown');
export const ENV = oneOf('dev', 'ci', 'prod', 'unknown');

export const SOURCE = open({
  host_id: required(string(), 'Stable per machine.'),
  proc_id: required(string(), 'Stable per process.'),
  shim_id: required(string(), 'Unique per shim.'),
});

export const WORKLOAD = open({
  user: optional(string(), 'Desktop: the local user.'),
  repo_path: optional(string(), 'Desktop: the path of the repository.'),
  ci_provider: optional(string(), 'CI: the provider.'),
  job_id: optional(string(), 'CI: the job.'),
  repo: optional(string(), 'CI: the repository.'),
  branch: optional(string(), 'CI: the branch.'),
  namespace: optional(string(), 'Kubernetes: the namespace.'),
  service_account: optional(string(), 'Kubernetes: the service account.'),
  pod: optional(string(), 'Kubernetes: the pod.'),
  labels: optional(record(string({ lengthMin: 0 })), 'Kubernetes: labels of the pod.'),
});

/** What a producer knows once and repeats on every event. */
const PRODUCER_FIELDS = {
  run_id: required(string(), 'The run; unique everywhere, best sortable by time.'),
  agent_id: required(string(), 'The agent; a stable, logical name.'),
  client: required(CLIENT, 'The agent client.'),
  env: required(ENV, 'The environment.'),
  source: required(SOURCE, 'The instance that produced the event.'),
  principal: optional(string(), 'Who started the run: a user or a service.'),
  workload: optional(WORKLOAD, 'What the agent runs in.'),
  profile: optional(PROFILE, 'Since 0.2.0: whether decisions are enforced or only recorded.'),
} as const;

export const ENVELOPE_FIELDS = {
  v: required(formatted('pack_version'), 'The version of the interface pack.'),
  ts: required(formatted('rfc3339'), 'When it happened, in UTC.'),
  ...PRODUCER_FIELDS,
} as const;

/** Closed: what a producer puts on every line is spelled out, nothing slips in. */
export const PRODUCER = closed(PRODUCER_FIELDS);

export type Producer = Infer<typeof PRODUCER>;
export type Workload = Infer<typeof WORKLOAD>;
export type Client = Infer<typeof CLIENT>;
export type Env = Infer<typeof ENV>;
