// A run: it starts and ends.
import { MODE, POLICY_REF } from '../decision/decision.ts';
import { formatted, json, oneOf, open, optional, record, required } from '../shape/shape.ts';
import { count } from './call.ts';

/** `LOST`, since 0.2.0: its processes are gone, and none has recorded the end. */
export const RUN_STATUS = oneOf('SUCCEEDED', 'FAILED', 'TERMINATED', 'CANCELLED', 'LOST');

const RUN_STARTED = open({
  started_at: required(formatted('rfc3339'), 'When the run began.'),
  mode: required(MODE, 'How far the policy goes.'),
  policy: required(POLICY_REF, 'The policy in force.'),
  meta: optional(record(json()), 'Anything else worth knowing: issue, repository, task type.'),
});

export const RUN_SUMMARY = open({
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

export const RUN_START = { run: required(RUN_STARTED, 'The run that begins.') } as const;

export const RUN_END = { run: required(RUN_ENDED, 'The run that ended.') } as const;
