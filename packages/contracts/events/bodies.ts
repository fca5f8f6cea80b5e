// What the optional events carry. The pack names these types and leaves their fields open, but
// for secret_injection; the fields below are ours since 0.2.0.
import { ACTION } from '../decision/decision.ts';
import {
  boolean,
  closed,
  integer,
  oneOf,
  open,
  optional,
  required,
  string,
} from '../shape/shape.ts';

const count = integer({ min: 0 });

const SECRET_INJECTION_FIELDS = {
  inject_as: required(string(), 'The environment variable of the server.'),
  secret_ref: required(string(), 'The name of the secret.'),
  source: required(oneOf('env', 'keychain', 'file', 'vault'), 'Where it came from.'),
  success: required(boolean(), 'Whether it was found and injected.'),
  server_name: optional(string(), 'Since 0.2.0: the server that got it.'),
} as const;

export const SECRET_INJECTION = open(SECRET_INJECTION_FIELDS);
/** Closed for producers: no field may ever carry the secret itself. */
export const SECRET_INJECTION_WRITTEN = closed(SECRET_INJECTION_FIELDS);

export const SHIM_HEALTH = open({
  status: required(oneOf('ok', 'degraded', 'stopping'), 'In a word.'),
  reason: optional(string(), 'Why it is not ok.'),
  uptime_ms: required(count, 'Since the shim started.'),
  calls_in_flight: optional(count, 'Calls that wait for their answer.'),
  events_queued: optional(count, 'Events that wait for the ledger.'),
  events_spooled: optional(count, 'Events on disk because nobody listened.'),
  previews_dropped: optional(count, 'Previews left out because the queue was full.'),
});

/** The reason of a shim that has not taken a changed policy; `sub run --strict` looks for it. */
export const POLICY_HELD_BACK =
  'the changed policy would let more pass; the last one stays until the next start';

export const BREAKER_TRIP = open({
  rule_id: required(string(), 'The rule that tripped.'),
  scope: required(oneOf('run', 'tool', 'server_tool'), 'What shared the window.'),
  cause: required(oneOf('errors', 'repeats'), 'What there was too much of.'),
  count: required(count, 'How many fell into the window.'),
  window_ms: required(integer({ min: 1 }), 'The length of the window.'),
  action: required(ACTION, 'What was done.'),
  call_id: optional(string(), 'The call that tripped it.'),
  server_name: optional(string(), 'Its server.'),
  tool_name: optional(string(), 'Its tool.'),
});

export const APPROVAL_STEP = open({
  id: optional(string({ lengthMax: 64 }), 'The request; absent when nobody was asked.'),
  rule_id: required(string(), 'The rule that asks.'),
  state: required(
    oneOf('asked', 'approved', 'rejected', 'expired', 'cancelled', 'auto_approved'),
    'How far it is. `auto_approved`: the development profile let the call pass, nobody was asked.',
  ),
  by: optional(string({ lengthMax: 256 }), 'Who decided.'),
  channel: optional(string({ lengthMax: 64 }), 'By which channel.'),
  grant_id: optional(string({ lengthMax: 64 }), 'The grant that came of it, or that was used.'),
  waited_ms: optional(count, 'How long the call waited.'),
});

export const SURFACE_NOTICE = open({
  what: required(
    oneOf(
      'tool_hidden',
      'tool_changed',
      'tool_added',
      'tool_removed',
      'schema_rewritten',
      'instructions_changed',
      'definition_suspicious',
      'look_alike',
      'server_state',
    ),
    'What was noticed.',
  ),
  enforced: required(boolean(), 'Whether something was done about it.'),
  server_name: required(string(), 'The server, as it is configured.'),
  name: optional(string({ lengthMax: 1_024 }), 'The tool, prompt or resource.'),
  reason_code: required(string({ lengthMax: 128 }), 'A stable, enum-like reason.'),
  detail: required(string({ lengthMax: 4_096 }), 'In words; safe to show.'),
});
