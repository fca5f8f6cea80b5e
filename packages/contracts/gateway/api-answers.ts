// What the API of the gateway answers. Times are milliseconds since 1970, money is micro-dollars; cents stand beside
// it where the interface promises them. No answer ever holds a prompt, a completion or a secret but a new key.
import {
  array,
  boolean,
  type Infer,
  integer,
  json,
  nullable,
  oneOf,
  open,
  optional,
  required,
  string,
} from '../shape/shape.ts';

export const GATEWAY_ROLE = oneOf('developer', 'team_admin', 'platform_admin');

const text = string({ lengthMin: 0 });
const texts = array(text);
const count = integer({ min: 0 });
const timeMs = integer({ min: 0 });
const micros = integer();

/** A user as the configuration has them. */
const PERSON_FIELDS = {
  team_id: required(text, 'Their team; `unassigned` without one.'),
  team_name: optional(nullable(text), 'What people call it.'),
  email: optional(nullable(text), 'Their address.'),
} as const;

export const WHOAMI = open({
  user_id: required(text, 'Whose key it is.'),
  role: required(GATEWAY_ROLE, 'What they may do.'),
  ...PERSON_FIELDS,
});

const KEY_FIELDS = {
  id: required(text, 'The id of the key.'),
  last4: required(text, 'Its last four characters.'),
  name: required(text, 'What it was called when it was made.'),
  created_at_ms: required(timeMs, 'When it was made.'),
} as const;

export const API_KEYS = open({
  keys: required(array(open(KEY_FIELDS)), 'Keys that are not revoked.'),
});
export const NEW_API_KEY = open({
  ...KEY_FIELDS,
  key: required(text, 'The key. It is shown this once.'),
});
export const CHANGED = open({
  changed: required(boolean(), 'False when there was nothing to do.'),
});

export const INVITE = open({
  invite_token: required(text, 'The invite, for `sub login --invite`. It is shown this once.'),
  user_id: required(text, 'Who is invited.'),
  role: required(GATEWAY_ROLE, 'What they will be.'),
  expires_at_ms: required(timeMs, 'When it ends.'),
});

const OPEN_INVITE = open({
  id: required(text, 'Names the invite; nobody can use it as one.'),
  user_id: required(text, 'Who is invited.'),
  role: required(GATEWAY_ROLE, 'What they will be.'),
  created_by: required(text, 'Who invites.'),
  expires_at_ms: required(timeMs, 'When it ends.'),
});
export const OPEN_INVITES = open({
  invites: required(array(OPEN_INVITE), 'Those that nobody has used yet, the first to end first.'),
});

export const GATEWAY_USER = open({
  user_id: required(text, 'The user.'),
  role: required(GATEWAY_ROLE, 'What they may do.'),
  ...PERSON_FIELDS,
  created_at_ms: required(timeMs, 'When they came.'),
});
export const GATEWAY_USERS = open({ users: required(array(GATEWAY_USER), 'Everyone.') });
export const REVOKED_KEYS = open({ revoked: required(count, 'How many keys were revoked.') });

/** A user with a new key: what an invite or the setup token is exchanged for. */
export const ONBOARDED = open({
  user_id: required(text, 'Who they are.'),
  role: required(GATEWAY_ROLE, 'What they may do.'),
  team_id: required(text, 'Their team; `unassigned` without one.'),
  key_id: required(text, 'The id of the key.'),
  api_key: required(text, 'The key. It is shown this once.'),
});

export const COST_SUMMARY = open({
  rows: required(
    array(
      open({
        bucket: required(text, 'The first day of the bucket; empty without `group_by`.'),
        dim_value: required(text, 'The team, user, repository, model, … that it is about.'),
        dim_name: required(nullable(text), 'What people call it, of a team.'),
        cost_micros: required(micros, 'The cost.'),
        cost_cents: required(integer(), 'The same in cents, rounded.'),
        input_tokens: required(count, 'Tokens in.'),
        output_tokens: required(count, 'Tokens out.'),
        n_requests: required(count, 'Calls of providers.'),
        n_failed: required(count, 'How many of them failed.'),
      }),
    ),
    'By bucket and value.',
  ),
});

const COST_ATTEMPT = open({
  trace_id: required(text, 'The trace.'),
  session_id: required(nullable(text), 'The session of the agent.'),
  attempt_no: required(integer({ min: 1 }), 'From 1.'),
  at_ms: required(timeMs, 'When it ended.'),
  provider: required(text, 'The provider.'),
  endpoint_id: required(text, 'The endpoint.'),
  model: required(text, 'The model.'),
  pool: required(text, 'The pool.'),
  is_private: required(boolean(), 'Whether the endpoint is private.'),
  is_shadow: required(boolean(), 'Whether it was a shadow evaluation.'),
  input_tokens: required(count, 'Tokens in.'),
  output_tokens: required(count, 'Tokens out.'),
  cache_read_tokens: required(count, 'Tokens read from a cache.'),
  cache_create_tokens: required(count, 'Tokens written to a cache.'),
  cost_micros: required(micros, 'The cost.'),
  cost_source: required(oneOf('provider_usage', 'estimated'), 'Where the figures come from.'),
  latency_ms: required(count, 'How long it took.'),
  is_success: required(boolean(), 'Whether the answer came whole.'),
  error_class: required(nullable(text), 'What went wrong.'),
});
export const COST_BREAKDOWN = open({
  attempts: required(array(COST_ATTEMPT), 'In the order of their traces and numbers.'),
  cost_micros: required(micros, 'All of it.'),
  cost_cents: required(integer(), 'The same in cents, rounded.'),
});

const ROUTING_EVENT = open({
  at_ms: required(timeMs, 'When.'),
  trace_id: required(text, 'The trace.'),
  attempt_no: required(integer({ min: 1 }), 'From 1.'),
  is_shadow: required(boolean(), 'Nothing was sent: a shadow evaluation would have gone there.'),
  team_id: required(text, 'The team.'),
  decision: required(json(), 'What the policy decided.'),
  pool: required(text, 'The pool.'),
  member: required(json(), 'Where it went.'),
  fallback_chain: required(array(json()), 'What would have come next.'),
  degraded_features: required(texts, 'What the route could not carry.'),
  breaker_state: required(text, 'The breaker of the endpoint.'),
  seed: required(text, 'What the choice was made from; `sub routing replay` repeats it.'),
  error: required(nullable(text), 'What went wrong.'),
});
export const ROUTING_RECENT = open({ rows: required(array(ROUTING_EVENT), 'Newest first.') });

const BUDGET_FIELDS = {
  scope: required(oneOf('team_month', 'user_day', 'run'), 'What the limit is for.'),
  key: required(text, 'The team, the user or the run.'),
  period: required(text, 'The month or the day, in UTC.'),
  cap_micros: required(micros, 'The most that may be spent.'),
  soft_micros: required(micros, 'From here on it warns.'),
  used_micros: required(micros, 'What was spent.'),
  reserved_micros: required(micros, 'What calls under way may spend.'),
  on_exceeded: required(oneOf('refuse', 'require_approval', 'warn'), 'What happens then.'),
  is_soft_hit: required(boolean(), 'Whether it warns now.'),
  is_hard_hit: required(boolean(), 'Whether nothing is left.'),
} as const;
export const BUDGET_STATES = open({
  budgets: required(array(open(BUDGET_FIELDS)), 'The limits that hold for the user.'),
});
export const ALL_BUDGETS = open({
  budgets: required(
    array(open({ ...BUDGET_FIELDS, name: required(nullable(text), 'What people call a team.') })),
    'The nearest to its cap first.',
  ),
  left_out: required(count, 'Limits of further users, which were not looked at.'),
});

const AUDIT_EVENT = open({
  id: required(integer(), 'Its number.'),
  at_ms: required(timeMs, 'When.'),
  trace_id: required(text, 'The trace.'),
  session_id: required(nullable(text), 'The session of the agent.'),
  user_id: required(text, 'Who.'),
  team_id: required(text, 'Their team.'),
  repo_id: required(nullable(text), 'The repository.'),
  event_type: required(text, 'What happened.'),
  decision: required(json(), 'What was decided.'),
  rule_ids: required(texts, 'The rules that contributed.'),
  detail: required(json(), 'More about it.'),
  request_summary: required(json(), 'The request in figures, never its text.'),
  routed_to: required(nullable(text), '`endpoint_id:model`.'),
  error_code: required(nullable(text), 'What went wrong.'),
});
export const AUDIT_PAGE = open({
  items: required(array(AUDIT_EVENT), 'Newest first.'),
  next_cursor: required(nullable(text), 'Gives the next page; null on the last.'),
});
export const AUDIT_TRACE = open({
  trace_id: required(text, 'The trace.'),
  events: required(array(AUDIT_EVENT), 'What happened, in order.'),
  routing: required(array(ROUTING_EVENT), 'Where it went, attempt by attempt.'),
  costs: required(array(COST_ATTEMPT), 'What it cost, attempt by attempt.'),
});

export const TURN_APPROVAL = open({
  id: required(text, 'Its id.'),
  trace_id: required(text, 'The turn that waits.'),
  requestor: required(text, 'Who asks.'),
  team_id: required(text, 'Their team.'),
  repo_id: required(nullable(text), 'The repository.'),
  snapshot: required(json(), 'What is asked for, never the prompt.'),
  state: required(oneOf('pending', 'approved', 'rejected', 'expired'), 'What has become of it.'),
  created_at_ms: required(timeMs, 'When it was asked.'),
  expires_at_ms: required(timeMs, 'When it ends by itself.'),
  resolved_at_ms: required(nullable(timeMs), 'When it ended.'),
  resolver: required(nullable(text), 'Who decided.'),
  note: required(nullable(text), 'What they said.'),
  used_at_ms: required(nullable(timeMs), 'When the client that was told by 202 used it.'),
});
export const TURN_APPROVALS = open({
  approvals: required(array(TURN_APPROVAL), 'Those that the caller may see.'),
});
export const APPROVAL_RESOLVED = open({
  changed: required(boolean(), 'False when it had ended before.'),
  approval: required(TURN_APPROVAL, 'As it is now.'),
});

export const POLICY_CURRENT = open({
  version: required(text, 'The version in force: a hash of the configuration.'),
  policy: required(json(), 'The policy as it was read.'),
});
export const POLICY_RELOADED = open({
  changed: required(boolean(), 'Whether another version is in force now.'),
  version: required(text, 'The version in force.'),
  problems: required(
    array(
      open({
        file: required(text, 'The file.'),
        line: required(count, 'From 1; 0 for the whole file.'),
        message: required(text, 'What is wrong.'),
        fix: required(text, 'What to do.'),
      }),
    ),
    'Why the new configuration was refused; the old one stays in force.',
  ),
});
export const POLICY_EXPLAINED = open({
  version: required(text, 'The version that decided.'),
  decision: required(json(), 'What would be decided.'),
  rules: required(array(json()), 'The rules that were checked, in order.'),
});
export const POLICY_SNIPPET = open({
  version: required(text, 'The version in force.'),
  rules: required(array(json()), 'The rules that can apply to the caller.'),
});

export const POOLS_CURRENT = open({
  pools: required(
    array(
      open({
        name: required(text, 'The pool.'),
        members: required(
          array(
            open({
              endpoint_id: required(text, 'The endpoint.'),
              model: required(text, 'The model.'),
              weight: required(integer({ min: 0 }), 'Its share.'),
            }),
          ),
          'Where its turns go.',
        ),
        fallback_pool: required(nullable(text), 'What is tried next.'),
      }),
    ),
    'All pools.',
  ),
  endpoints: required(
    array(
      open({
        id: required(text, 'The endpoint.'),
        provider: required(text, 'The provider.'),
        data_residency: required(text, 'Where the data goes.'),
        trust_tier: required(text, 'How far it is trusted.'),
        supports: required(texts, 'What it can do.'),
      }),
    ),
    'All endpoints, without addresses and keys.',
  ),
});

export const GATEWAY_WEBHOOK = open({
  id: required(text, 'Its id.'),
  url: required(text, 'Where it goes.'),
  events: required(texts, 'What it is told.'),
  source: required(oneOf('config', 'api'), 'Where it was set up.'),
});
export const GATEWAY_WEBHOOKS = open({ webhooks: required(array(GATEWAY_WEBHOOK), 'All.') });
export const WEBHOOK_TESTED = open({
  delivered: required(boolean(), 'Whether it was taken.'),
  status: required(nullable(count), 'What the receiver answered.'),
  error: required(nullable(text), 'Why it was not sent or not taken.'),
});

export const VERSION_CHECK = open({
  gateway_version: required(text, 'The version of the gateway.'),
  minimum_version: required(text, 'The oldest proxy that it serves.'),
  latest_version: required(nullable(text), 'The newest that its admins offer.'),
  is_supported: required(boolean(), 'Whether this proxy is new enough.'),
  message: required(nullable(text), 'What to do when it is not, or when a newer one is there.'),
});
export const REPO_BOUND = open({
  binding_token: required(text, 'Goes into `.git/aicg-binding`.'),
  repo_id: required(text, 'The repository.'),
  expires_at_ms: required(timeMs, 'When it ends.'),
});

export type GatewayRole = Infer<typeof GATEWAY_ROLE>;
export type GatewayAuditEvent = Infer<typeof AUDIT_EVENT>;
export type GatewayRoutingEvent = Infer<typeof ROUTING_EVENT>;
export type GatewayCostAttempt = Infer<typeof COST_ATTEMPT>;
export type GatewayApproval = Infer<typeof TURN_APPROVAL>;
