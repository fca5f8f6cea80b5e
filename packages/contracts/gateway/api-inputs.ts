// What the endpoints of the gateway take: the parameters of a question and the body of a request.
import { parserFor } from '../shape/check.ts';
import {
  array,
  boolean,
  closed,
  type Infer,
  integer,
  json,
  oneOf,
  optional,
  required,
  string,
} from '../shape/shape.ts';
import { GATEWAY_ROLE } from './api-answers.ts';
import { LEVEL, TASK_TYPE } from './envelope.ts';

export const WEBHOOK_EVENT = oneOf(
  'approval_pending',
  'approval_resolved',
  'budget_soft',
  'budget_hard',
  'config_rejected',
  'reservation_expired',
  'policy_violation',
);
export type WebhookEvent = Infer<typeof WEBHOOK_EVENT>;

const CURSOR_LENGTH_MAX = 64;
const HOURS_MAX = 30 * 24;

const id = string({ lengthMax: 256 });
const userId = string({ lengthMax: 256 });
const machineId = string({ lengthMax: 128 });
const token = string({ lengthMax: 256 });
const time = string({ lengthMax: 40 });
const limit = optional(integer({ min: 1, max: 500 }), 'How many; 50.');
const note = optional(string({ lengthMax: 2_000 }), 'Why; it is recorded.');

const RANGE = {
  from: optional(time, 'From this time on: a date, or a date and a time in UTC.'),
  to: optional(time, 'Before this time.'),
} as const;

const COST_DIMENSION = oneOf(
  'team',
  'user',
  'repo',
  'model',
  'provider',
  'task_type',
  'policy_rule',
);
export type CostDimension = Infer<typeof COST_DIMENSION>;
const COST_BUCKET = oneOf('hour', 'day', 'week', 'month');
export type CostBucket = Infer<typeof COST_BUCKET>;

export const COST_SUMMARY_QUERY = closed({
  dim: required(COST_DIMENSION, 'What is summed by.'),
  group_by: optional(
    COST_BUCKET,
    'Buckets of time; without it there is one. Hours of 7 days at most.',
  ),
  ...RANGE,
  team_id: optional(id, 'Only this team.'),
  user_id: optional(id, 'Only this user.'),
  repo_id: optional(id, 'Only this repository.'),
});
export const COST_BREAKDOWN_QUERY = closed({
  trace_id: optional(id, 'The trace; this or a session.'),
  session_id: optional(id, 'The session; this or a trace.'),
});
export const ROUTING_QUERY = closed({ team_id: optional(id, 'Only this team.'), limit });
export const BUDGET_QUERY = closed({
  user_id: optional(id, 'Of this user; without it, of the caller.'),
});
export const ALL_BUDGETS_QUERY = closed({ team_id: optional(id, 'Only this team.'), limit });
export const AUDIT_QUERY = closed({
  trace_id: optional(id, 'Only this trace.'),
  user_id: optional(id, 'Only this user.'),
  team_id: optional(id, 'Only this team.'),
  repo_id: optional(id, 'Only this repository.'),
  event_type: optional(id, 'Only this kind of event.'),
  ...RANGE,
  cursor: optional(string({ lengthMax: CURSOR_LENGTH_MAX }), '`next_cursor` of the page before.'),
  limit,
});
export const TURN_APPROVALS_QUERY = closed({
  state: optional(oneOf('pending', 'approved', 'rejected', 'expired'), 'Only in this state.'),
});
export const EXPLAIN_QUERY = closed({
  input: required(string(), 'What POST takes, as JSON text.'),
});
export const VERSION_QUERY = closed({
  version: optional(string({ lengthMax: 64 }), 'The version of the proxy.'),
});

export const NEW_KEY_BODY = closed({
  name: optional(string({ lengthMax: 128 }), 'What it is for, to tell keys apart.'),
});
export const INVITE_BODY = closed({
  user_id: required(userId, 'Who is invited.'),
  role: required(GATEWAY_ROLE, 'What they will be.'),
  expires_in_hours: optional(integer({ min: 1, max: HOURS_MAX }), 'How long it lasts; 168.'),
});
export const ROLE_BODY = closed({ role: required(GATEWAY_ROLE, 'What they may do from now on.') });
export const RESOLVE_BODY = closed({ note });
/** What the gateway makes of a turn, by the names that rules use. */
const CLASSIFIER = closed({
  task_type: optional(TASK_TYPE, 'The task.'),
  complexity: optional(LEVEL, 'How hard it is.'),
  data_sensitivity: optional(LEVEL, 'How sensitive it is.'),
  agentic_loop: optional(boolean(), 'Whether it answers a tool.'),
  has_secret_finding: optional(boolean(), 'Whether a secret was found.'),
  has_personal_data_finding: optional(boolean(), 'Whether personal data was found.'),
  findings: optional(
    array(
      closed({
        type: required(string({ lengthMax: 128 }), 'What was found, like `aws_key`.'),
        confidence: required(oneOf('certain', 'likely', 'hint'), 'How sure it is.'),
      }),
      { itemsMax: 256 },
    ),
    'What was found in it.',
  ),
  languages: optional(array(string({ lengthMax: 64 }), { itemsMax: 64 }), 'Its languages.'),
});
const EXPLAINED_REQUEST = closed({
  model: optional(string({ lengthMax: 256 }), 'The model that is asked for.'),
  stream: optional(boolean(), 'Whether the answer is streamed.'),
  max_tokens: optional(integer({ min: 0 }), 'The most that it may answer.'),
});
export const EXPLAIN_BODY = closed({
  envelope: required(json(), 'What a proxy says about the turn.'),
  request: optional(EXPLAINED_REQUEST, 'What rules see of the request.'),
  classifier: optional(CLASSIFIER, 'What the gateway makes of it; the rest is worked out.'),
  user_id: optional(userId, 'Whose turn it is; without it, of the caller.'),
});
export const WEBHOOK_BODY = closed({
  url: required(string({ lengthMax: 2_048 }), 'An https address that the allowlist names.'),
  events: required(array(WEBHOOK_EVENT, { itemsMin: 1, itemsMax: 16 }), 'What it is told.'),
  secret_ref: required(
    string({ lengthMax: 1_024 }),
    'Where the shared secret is: `env://`, `file://` or `vault://`.',
  ),
});
export const SETUP_BODY = closed({
  setup_token: required(token, 'The token of the first start.'),
  user_id: required(userId, 'Who becomes the first admin.'),
  machine_id: optional(machineId, 'The machine that asks.'),
});
export const EXCHANGE_BODY = closed({
  invite_token: required(token, 'The invite.'),
  machine_id: required(machineId, 'The machine that asks.'),
});
export const BIND_BODY = closed({
  remote_url: required(string({ lengthMax: 1_024 }), 'The remote of the repository.'),
  head_sha: optional(string({ lengthMax: 64 }), 'The commit.'),
  machine_id: required(machineId, 'The machine that works in it.'),
});

export type ExplainRequest = Infer<typeof EXPLAIN_BODY>;

export const parseExplainRequest = parserFor<ExplainRequest>(EXPLAIN_BODY);

/** What the sealed cookie of a page holds. */
const PAGE_KEY = closed({
  api_key: required(token, 'The key that the session stands for.'),
  expires_at_ms: required(integer({ min: 0 }), 'When the session ends.'),
});
export const parsePageKey = parserFor<Infer<typeof PAGE_KEY>>(PAGE_KEY);

/** What the gateway signs for a machine and its repository. */
const REPO_BINDING = closed({
  repo_id: required(string({ lengthMax: 1_024 }), 'The repository.'),
  machine_id: required(machineId, 'The machine that may use it.'),
  exp: required(integer({ min: 0 }), 'When it ends, in seconds since 1970.'),
});
export type RepoBindingPayload = Infer<typeof REPO_BINDING>;
export const parseRepoBinding = parserFor<RepoBindingPayload>(REPO_BINDING);
