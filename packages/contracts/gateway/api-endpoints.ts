// The API of the gateway: every endpoint with its parameters, its answer and who may ask. The routes, the OpenAPI
// document and the page docs/reference/gateway-api.md are held to this table.
import type { ApiInput, ApiQuery } from '../api/endpoints.ts';
import { parserFor } from '../shape/check.ts';
import {
  array,
  boolean,
  closed,
  type Infer,
  integer,
  json,
  type ObjectShape,
  oneOf,
  optional,
  required,
  string,
} from '../shape/shape.ts';
import {
  API_KEYS,
  APPROVAL_RESOLVED,
  AUDIT_PAGE,
  AUDIT_TRACE,
  BUDGET_STATES,
  CHANGED,
  COST_BREAKDOWN,
  COST_SUMMARY,
  GATEWAY_ROLE,
  GATEWAY_USER,
  GATEWAY_USERS,
  GATEWAY_WEBHOOK,
  GATEWAY_WEBHOOKS,
  type GatewayRole,
  INVITE,
  NEW_API_KEY,
  ONBOARDED,
  POLICY_CURRENT,
  POLICY_EXPLAINED,
  POLICY_RELOADED,
  POLICY_SNIPPET,
  POOLS_CURRENT,
  REPO_BOUND,
  REVOKED_KEYS,
  ROUTING_RECENT,
  TURN_APPROVAL,
  TURN_APPROVALS,
  VERSION_CHECK,
  WEBHOOK_TESTED,
  WHOAMI,
} from './api-answers.ts';
import { LEVEL, TASK_TYPE } from './envelope.ts';

export interface GatewayEndpoint {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Names in braces are part of the path, percent-encoded. */
  readonly path: string;
  readonly summary: string;
  /** The least role that may ask; `anyone` needs no key. */
  readonly role: GatewayRole | 'anyone';
  readonly query: ApiQuery<unknown>;
  readonly input?: ApiInput<unknown>;
  /** `events` is a stream of server-sent events, each with one `answer`. */
  readonly kind: 'json' | 'events';
  readonly answer: ObjectShape;
}

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

const BODY_BYTES_MAX = 65_536;
const EXPLAIN_BYTES_MAX = 1_048_576;
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

const COST_SUMMARY_QUERY = closed({
  dim: required(
    oneOf('team', 'user', 'repo', 'model', 'provider', 'task_type', 'policy_rule'),
    'What is summed by.',
  ),
  group_by: optional(oneOf('day', 'week', 'month'), 'Buckets of time; without it there is one.'),
  ...RANGE,
  team_id: optional(id, 'Only this team.'),
  user_id: optional(id, 'Only this user.'),
  repo_id: optional(id, 'Only this repository.'),
});
const COST_BREAKDOWN_QUERY = closed({
  trace_id: optional(id, 'The trace; this or a session.'),
  session_id: optional(id, 'The session; this or a trace.'),
});
const ROUTING_QUERY = closed({ team_id: optional(id, 'Only this team.'), limit });
const BUDGET_QUERY = closed({ user_id: optional(id, 'Of this user; without it, of the caller.') });
const AUDIT_QUERY = closed({
  trace_id: optional(id, 'Only this trace.'),
  user_id: optional(id, 'Only this user.'),
  team_id: optional(id, 'Only this team.'),
  repo_id: optional(id, 'Only this repository.'),
  event_type: optional(id, 'Only this kind of event.'),
  ...RANGE,
  cursor: optional(string({ lengthMax: CURSOR_LENGTH_MAX }), '`next_cursor` of the page before.'),
  limit,
});
const TURN_APPROVALS_QUERY = closed({
  state: optional(oneOf('pending', 'approved', 'rejected', 'expired'), 'Only in this state.'),
});
const EXPLAIN_QUERY = closed({ input: required(string(), 'What POST takes, as JSON text.') });
const VERSION_QUERY = closed({
  version: optional(string({ lengthMax: 64 }), 'The version of the proxy.'),
});

const NEW_KEY_BODY = closed({
  name: optional(string({ lengthMax: 128 }), 'What it is for, to tell keys apart.'),
});
const INVITE_BODY = closed({
  user_id: required(userId, 'Who is invited.'),
  role: required(GATEWAY_ROLE, 'What they will be.'),
  expires_in_hours: optional(integer({ min: 1, max: HOURS_MAX }), 'How long it lasts; 168.'),
});
const ROLE_BODY = closed({ role: required(GATEWAY_ROLE, 'What they may do from now on.') });
const RESOLVE_BODY = closed({ note });
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
const EXPLAIN_BODY = closed({
  envelope: required(json(), 'What a proxy says about the turn.'),
  request: optional(EXPLAINED_REQUEST, 'What rules see of the request.'),
  classifier: optional(CLASSIFIER, 'What the gateway makes of it; the rest is worked out.'),
  user_id: optional(userId, 'Whose turn it is; without it, of the caller.'),
});
const WEBHOOK_BODY = closed({
  url: required(string({ lengthMax: 2_048 }), 'An https address that the allowlist names.'),
  events: required(array(WEBHOOK_EVENT, { itemsMin: 1, itemsMax: 16 }), 'What it is told.'),
  secret_ref: required(
    string({ lengthMax: 1_024 }),
    'Where the shared secret is: `env://`, `file://` or `vault://`.',
  ),
});
const SETUP_BODY = closed({
  setup_token: required(token, 'The token of the first start.'),
  user_id: required(userId, 'Who becomes the first admin.'),
  machine_id: optional(machineId, 'The machine that asks.'),
});
const EXCHANGE_BODY = closed({
  invite_token: required(token, 'The invite.'),
  machine_id: required(machineId, 'The machine that asks.'),
});
const BIND_BODY = closed({
  remote_url: required(string({ lengthMax: 1_024 }), 'The remote of the repository.'),
  head_sha: optional(string({ lengthMax: 64 }), 'The commit.'),
  machine_id: required(machineId, 'The machine that works in it.'),
});

function query<T>(shape: ObjectShape): ApiQuery<T> {
  return { shape, parse: parserFor<T>(shape) };
}

type Asked = Pick<GatewayEndpoint, 'summary' | 'role'>;

const NO_QUERY = query<unknown>(closed({}));

function get<T = unknown>(
  path: string,
  answer: ObjectShape,
  asked: Asked & { query?: ObjectShape },
) {
  const { query: parameters, ...rest } = asked;
  const read = query<T>(parameters ?? closed({}));
  return {
    ...rest,
    method: 'GET',
    path: `/api/v1/${path}`,
    query: read,
    kind: 'json',
    answer,
  } as const;
}

function post<T = unknown>(
  path: string,
  answer: ObjectShape,
  asked: Asked & { body?: ObjectShape; bytesMax?: number },
) {
  const { body, bytesMax = BODY_BYTES_MAX, ...rest } = asked;
  const input: ApiInput<T> = { bytesMax, ...query<T>(body ?? closed({})) };
  const at = `/api/v1/${path}`;
  return {
    ...rest,
    method: 'POST',
    path: at,
    query: NO_QUERY,
    input,
    kind: 'json',
    answer,
  } as const;
}

const developer = 'developer';
const teamAdmin = 'team_admin';
const platformAdmin = 'platform_admin';

export const GATEWAY_ENDPOINTS = {
  whoami: get('whoami', WHOAMI, { summary: 'Who the key belongs to', role: developer }),
  keys: get('me/api-keys', API_KEYS, { summary: 'List your keys', role: developer }),
  addKey: post<Infer<typeof NEW_KEY_BODY>>('me/api-keys', NEW_API_KEY, {
    summary: 'Make a key of your own',
    role: developer,
    body: NEW_KEY_BODY,
  }),
  revokeKey: {
    ...get('me/api-keys/{id}', CHANGED, { summary: 'Revoke one of your keys', role: developer }),
    method: 'DELETE',
  },
  invite: post<Infer<typeof INVITE_BODY>>('admin/invites', INVITE, {
    summary: 'Invite a user',
    role: platformAdmin,
    body: INVITE_BODY,
  }),
  users: get('admin/users', GATEWAY_USERS, { summary: 'List users', role: platformAdmin }),
  setRole: post<Infer<typeof ROLE_BODY>>('admin/users/{id}/role', GATEWAY_USER, {
    summary: 'Change the role of a user',
    role: platformAdmin,
    body: ROLE_BODY,
  }),
  revokeAll: post('admin/users/{id}/api-keys/revoke-all', REVOKED_KEYS, {
    summary: 'Revoke all keys of a user',
    role: platformAdmin,
  }),
  costSummary: get<Infer<typeof COST_SUMMARY_QUERY>>('cost/summary', COST_SUMMARY, {
    summary: 'Sum up cost',
    role: developer,
    query: COST_SUMMARY_QUERY,
  }),
  costBreakdown: get<Infer<typeof COST_BREAKDOWN_QUERY>>('cost/breakdown', COST_BREAKDOWN, {
    summary: 'Show the cost of a trace or a session, attempt by attempt',
    role: developer,
    query: COST_BREAKDOWN_QUERY,
  }),
  routingRecent: get<Infer<typeof ROUTING_QUERY>>('routing/recent', ROUTING_RECENT, {
    summary: 'Show the latest routing',
    role: developer,
    query: ROUTING_QUERY,
  }),
  budget: get<Infer<typeof BUDGET_QUERY>>('budget', BUDGET_STATES, {
    summary: 'Show budgets and what is left of them',
    role: developer,
    query: BUDGET_QUERY,
  }),
  auditSearch: get<Infer<typeof AUDIT_QUERY>>('audit/search', AUDIT_PAGE, {
    summary: 'Search the audit',
    role: developer,
    query: AUDIT_QUERY,
  }),
  auditTrace: get('audit/{trace_id}', AUDIT_TRACE, {
    summary: 'Show all that is on record about a trace',
    role: developer,
  }),
  approvals: get<Infer<typeof TURN_APPROVALS_QUERY>>('approvals', TURN_APPROVALS, {
    summary: 'List approvals',
    role: developer,
    query: TURN_APPROVALS_QUERY,
  }),
  approve: post<Infer<typeof RESOLVE_BODY>>('approvals/{id}/approve', APPROVAL_RESOLVED, {
    summary: 'Approve a turn that waits',
    role: teamAdmin,
    body: RESOLVE_BODY,
  }),
  reject: post<Infer<typeof RESOLVE_BODY>>('approvals/{id}/reject', APPROVAL_RESOLVED, {
    summary: 'Reject a turn that waits',
    role: teamAdmin,
    body: RESOLVE_BODY,
  }),
  approvalStream: {
    ...get('', TURN_APPROVAL, { summary: 'Follow approvals as they change', role: developer }),
    path: '/sse/v1/approvals/stream',
    kind: 'events',
  },
  policyCurrent: get('policy/current', POLICY_CURRENT, {
    summary: 'Show the policy in force',
    role: platformAdmin,
  }),
  policyReload: post('policy/reload', POLICY_RELOADED, {
    summary: 'Read the configuration again',
    role: platformAdmin,
  }),
  explain: get<Infer<typeof EXPLAIN_QUERY>>('policy/decision/explain', POLICY_EXPLAINED, {
    summary: 'Explain what the policy would decide',
    role: teamAdmin,
    query: EXPLAIN_QUERY,
  }),
  explainBody: post<Infer<typeof EXPLAIN_BODY>>('policy/decision/explain', POLICY_EXPLAINED, {
    summary: 'Explain what the policy would decide',
    role: teamAdmin,
    body: EXPLAIN_BODY,
    bytesMax: EXPLAIN_BYTES_MAX,
  }),
  pools: get('pools/current', POOLS_CURRENT, { summary: 'Show pools', role: developer }),
  webhooks: get('webhooks', GATEWAY_WEBHOOKS, { summary: 'List webhooks', role: platformAdmin }),
  addWebhook: post<Infer<typeof WEBHOOK_BODY>>('webhooks', GATEWAY_WEBHOOK, {
    summary: 'Add a webhook',
    role: platformAdmin,
    body: WEBHOOK_BODY,
  }),
  removeWebhook: {
    ...get('webhooks/{id}', CHANGED, { summary: 'Remove a webhook', role: platformAdmin }),
    method: 'DELETE',
  },
  testWebhook: post('webhooks/{id}/test', WEBHOOK_TESTED, {
    summary: 'Send a test to a webhook',
    role: platformAdmin,
  }),
  setup: post<Infer<typeof SETUP_BODY>>('setup/exchange', ONBOARDED, {
    summary: 'Exchange the setup token for the key of the first admin',
    role: 'anyone',
    body: SETUP_BODY,
  }),
  exchangeInvite: post<Infer<typeof EXCHANGE_BODY>>('lp/exchange-invite', ONBOARDED, {
    summary: 'Exchange an invite for a key',
    role: 'anyone',
    body: EXCHANGE_BODY,
  }),
  policySnippet: get('lp/policy-snippet', POLICY_SNIPPET, {
    summary: 'Show the rules that can apply to you',
    role: developer,
  }),
  versionCheck: get<Infer<typeof VERSION_QUERY>>('lp/version-check', VERSION_CHECK, {
    summary: 'Check whether a proxy is new enough',
    role: 'anyone',
    query: VERSION_QUERY,
  }),
  bindRepo: post<Infer<typeof BIND_BODY>>('repo/bind', REPO_BOUND, {
    summary: 'Bind a repository to a machine',
    role: developer,
    body: BIND_BODY,
  }),
} as const satisfies { readonly [name: string]: GatewayEndpoint };

export type ExplainRequest = Infer<typeof EXPLAIN_BODY>;
export type GatewayEndpointName = keyof typeof GATEWAY_ENDPOINTS;

export const parseExplainRequest = parserFor<ExplainRequest>(EXPLAIN_BODY);

/** What the gateway signs for a machine and its repository. */
const REPO_BINDING = closed({
  repo_id: required(string({ lengthMax: 1_024 }), 'The repository.'),
  machine_id: required(machineId, 'The machine that may use it.'),
  exp: required(integer({ min: 0 }), 'When it ends, in seconds since 1970.'),
});
export type RepoBindingPayload = Infer<typeof REPO_BINDING>;
export const parseRepoBinding = parserFor<RepoBindingPayload>(REPO_BINDING);
