// The API of the gateway: every endpoint with its parameters, its answer and who may ask. The routes, the OpenAPI
// document and the page docs/reference/gateway-api.md are held to this table.
import type { ApiInput, ApiQuery } from '../api/define-endpoint.ts';
import { API_LOGGED_IN, API_LOGGED_OUT, API_SESSION, KEY_LOGIN_BODY } from '../api/session.ts';
import { parserFor } from '../shape/check.ts';
import { closed, type Infer, type ObjectShape } from '../shape/shape.ts';
import {
  ALL_BUDGETS,
  API_KEYS,
  APPROVAL_RESOLVED,
  AUDIT_PAGE,
  AUDIT_TRACE,
  BUDGET_STATES,
  CHANGED,
  COST_BREAKDOWN,
  COST_SUMMARY,
  GATEWAY_USER,
  GATEWAY_USERS,
  GATEWAY_WEBHOOK,
  GATEWAY_WEBHOOKS,
  type GatewayRole,
  INVITE,
  NEW_API_KEY,
  ONBOARDED,
  OPEN_INVITES,
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
import {
  ALL_BUDGETS_QUERY,
  AUDIT_QUERY,
  BIND_BODY,
  BUDGET_QUERY,
  COST_BREAKDOWN_QUERY,
  COST_SUMMARY_QUERY,
  EXCHANGE_BODY,
  EXPLAIN_BODY,
  EXPLAIN_QUERY,
  INVITE_BODY,
  NEW_KEY_BODY,
  RESOLVE_BODY,
  ROLE_BODY,
  ROUTING_QUERY,
  SETUP_BODY,
  TURN_APPROVALS_QUERY,
  VERSION_QUERY,
  WEBHOOK_BODY,
} from './api-inputs.ts';

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

const BODY_BYTES_MAX = 65_536;
const EXPLAIN_BYTES_MAX = 1_048_576;

const NOTHING = closed({});

function query<S extends ObjectShape>(shape: S): ApiQuery<Infer<S>> {
  return { shape, parse: parserFor<Infer<S>>(shape) };
}

type Asked = Pick<GatewayEndpoint, 'summary' | 'role'>;

/** The types of question and answer come from their shapes. */
function search<A extends ObjectShape, Q extends ObjectShape>(
  path: string,
  answer: A,
  asked: Asked & { query: Q },
) {
  const at = `/api/v1/${path}`;
  return {
    ...asked,
    method: 'GET',
    path: at,
    query: query(asked.query),
    kind: 'json',
    answer,
  } as const;
}

function get<A extends ObjectShape>(path: string, answer: A, asked: Asked) {
  return search(path, answer, { ...asked, query: NOTHING });
}

function post<A extends ObjectShape, B extends ObjectShape>(
  path: string,
  answer: A,
  asked: Asked & { body: B; bytesMax?: number },
) {
  const { body, bytesMax = BODY_BYTES_MAX, ...rest } = asked;
  const input = { bytesMax, ...query(body) };
  return { ...get(path, answer, rest), method: 'POST', input } as const;
}

const developer = 'developer';
const teamAdmin = 'team_admin';
const platformAdmin = 'platform_admin';

export const GATEWAY_ENDPOINTS = {
  login: post('login', API_LOGGED_IN, {
    summary: 'Begin a session of the page',
    role: 'anyone',
    body: KEY_LOGIN_BODY,
  }),
  logout: post('logout', API_LOGGED_OUT, {
    summary: 'End the session of the page in this browser',
    role: 'anyone',
    body: NOTHING,
  }),
  session: get('session', API_SESSION, { summary: 'Who is logged in', role: developer }),
  whoami: get('whoami', WHOAMI, { summary: 'Who the key belongs to', role: developer }),
  keys: get('me/api-keys', API_KEYS, { summary: 'List your keys', role: developer }),
  addKey: post('me/api-keys', NEW_API_KEY, {
    summary: 'Make a key of your own',
    role: developer,
    body: NEW_KEY_BODY,
  }),
  revokeKey: {
    ...get('me/api-keys/{id}', CHANGED, { summary: 'Revoke one of your keys', role: developer }),
    method: 'DELETE',
  },
  invite: post('admin/invites', INVITE, {
    summary: 'Invite a user',
    role: platformAdmin,
    body: INVITE_BODY,
  }),
  invites: get('admin/invites', OPEN_INVITES, { summary: 'List invites', role: platformAdmin }),
  removeInvite: {
    ...get('admin/invites/{id}', CHANGED, { summary: 'Take an invite back', role: platformAdmin }),
    method: 'DELETE',
  },
  users: get('admin/users', GATEWAY_USERS, { summary: 'List users', role: platformAdmin }),
  setRole: post('admin/users/{id}/role', GATEWAY_USER, {
    summary: 'Change the role of a user',
    role: platformAdmin,
    body: ROLE_BODY,
  }),
  revokeAll: post('admin/users/{id}/api-keys/revoke-all', REVOKED_KEYS, {
    summary: 'Revoke all keys of a user',
    role: platformAdmin,
    body: NOTHING,
  }),
  costSummary: search('cost/summary', COST_SUMMARY, {
    summary: 'Sum up cost',
    role: developer,
    query: COST_SUMMARY_QUERY,
  }),
  costBreakdown: search('cost/breakdown', COST_BREAKDOWN, {
    summary: 'Show the cost of a trace or a session, attempt by attempt',
    role: developer,
    query: COST_BREAKDOWN_QUERY,
  }),
  routingRecent: search('routing/recent', ROUTING_RECENT, {
    summary: 'Show the latest routing',
    role: developer,
    query: ROUTING_QUERY,
  }),
  budget: search('budget', BUDGET_STATES, {
    summary: 'Show budgets and what is left of them',
    role: developer,
    query: BUDGET_QUERY,
  }),
  budgets: search('budgets', ALL_BUDGETS, {
    summary: 'Show the budgets of all whom you may see',
    role: developer,
    query: ALL_BUDGETS_QUERY,
  }),
  auditSearch: search('audit/search', AUDIT_PAGE, {
    summary: 'Search the audit',
    role: developer,
    query: AUDIT_QUERY,
  }),
  auditTrace: get('audit/{trace_id}', AUDIT_TRACE, {
    summary: 'Show all that is on record about a trace',
    role: developer,
  }),
  approvals: search('approvals', TURN_APPROVALS, {
    summary: 'List approvals',
    role: developer,
    query: TURN_APPROVALS_QUERY,
  }),
  approve: post('approvals/{id}/approve', APPROVAL_RESOLVED, {
    summary: 'Approve a turn that waits',
    role: teamAdmin,
    body: RESOLVE_BODY,
  }),
  reject: post('approvals/{id}/reject', APPROVAL_RESOLVED, {
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
    body: NOTHING,
  }),
  explain: search('policy/decision/explain', POLICY_EXPLAINED, {
    summary: 'Explain what the policy would decide',
    role: teamAdmin,
    query: EXPLAIN_QUERY,
  }),
  explainBody: post('policy/decision/explain', POLICY_EXPLAINED, {
    summary: 'Explain what the policy would decide',
    role: teamAdmin,
    body: EXPLAIN_BODY,
    bytesMax: EXPLAIN_BYTES_MAX,
  }),
  pools: get('pools/current', POOLS_CURRENT, { summary: 'Show pools', role: developer }),
  webhooks: get('webhooks', GATEWAY_WEBHOOKS, { summary: 'List webhooks', role: platformAdmin }),
  addWebhook: post('webhooks', GATEWAY_WEBHOOK, {
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
    body: NOTHING,
  }),
  setup: post('setup/exchange', ONBOARDED, {
    summary: 'Exchange the setup token for the key of the first admin',
    role: 'anyone',
    body: SETUP_BODY,
  }),
  exchangeInvite: post('lp/exchange-invite', ONBOARDED, {
    summary: 'Exchange an invite for a key',
    role: 'anyone',
    body: EXCHANGE_BODY,
  }),
  policySnippet: get('lp/policy-snippet', POLICY_SNIPPET, {
    summary: 'Show the rules that can apply to you',
    role: developer,
  }),
  versionCheck: search('lp/version-check', VERSION_CHECK, {
    summary: 'Check whether a proxy is new enough',
    role: 'anyone',
    query: VERSION_QUERY,
  }),
  bindRepo: post('repo/bind', REPO_BOUND, {
    summary: 'Bind a repository to a machine',
    role: developer,
    body: BIND_BODY,
  }),
} as const satisfies { readonly [name: string]: GatewayEndpoint };

export type GatewayEndpointName = keyof typeof GATEWAY_ENDPOINTS;
/** What each endpoint answers, takes as parameters, and takes as its body. */
interface GatewayTypes {
  readonly answer: {
    [N in GatewayEndpointName]: Infer<(typeof GATEWAY_ENDPOINTS)[N]['answer']>;
  };
  readonly query: {
    [N in GatewayEndpointName]: (typeof GATEWAY_ENDPOINTS)[N]['query'] extends ApiQuery<infer Q>
      ? Q
      : never;
  };
  readonly body: {
    [N in GatewayEndpointName]: (typeof GATEWAY_ENDPOINTS)[N] extends {
      readonly input: ApiInput<infer B>;
    }
      ? B
      : never;
  };
}
export type GatewayAnswerOf<N extends GatewayEndpointName> = GatewayTypes['answer'][N];
export type GatewayQueryOf<N extends GatewayEndpointName> = GatewayTypes['query'][N];
export type GatewayBodyOf<N extends GatewayEndpointName> = GatewayTypes['body'][N];
