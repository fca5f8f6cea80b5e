// The HTTP API of the ledger daemon: the questions of a UI and their answers, and events from
// producers that cannot use the socket. It cannot change recorded events; a person may decide by it
// about calls that wait.

import { ACTION } from '../decision/decision.ts';
import { closed, type Infer, integer, oneOf, optional, required, string } from '../shape/shape.ts';
import {
  type API_CALL,
  API_CALL_DETAIL,
  API_CALLS_PAGE,
  API_ERROR,
  API_EVENT_LINE,
  API_HEALTH,
  API_POLICIES,
  API_POLICIES_LIMIT,
  API_RUN,
  API_RUN_SUMMARY,
  API_RUNS_PAGE,
  API_STATS,
  API_STREAM_MESSAGE,
  API_TAKEN,
  SEQ,
} from './answers.ts';
import {
  API_APPROVAL,
  API_APPROVALS,
  API_DECIDED,
  API_GRANTS,
  API_REVOKED,
  APPROVALS_QUERY,
  APPROVE_BODY,
  GRANTS_QUERY,
  REJECT_BODY,
} from './approval-endpoints.ts';
import {
  type ApiEndpoint,
  type ApiInput,
  type ApiQuery,
  endpoint,
  input,
  NOTHING,
  search,
} from './define-endpoint.ts';
import { API_HINTS, API_PROMOTED, HINTS_QUERY, PROMOTE_BODY } from './hint-endpoints.ts';
import { POLICY_ENDPOINTS } from './policy-endpoints.ts';
import {
  API_CALL_RECORD,
  API_COST,
  API_HISTOGRAM,
  API_LEDGER,
  API_PRUNE_JOB,
  API_RUNS_ACTIVITY,
  API_VERIFY_JOB,
} from './record-answers.ts';
import {
  ACTIVITY_QUERY,
  CALLS_QUERY,
  COST_QUERY,
  EVENTS_QUERY,
  HISTOGRAM_QUERY,
  PRUNE_BODY,
  RANGE_FIELDS,
  RUNS_QUERY,
  VERIFY_BODY,
} from './record-queries.ts';
import {
  ACCEPT_PINS_BODY,
  API_ACCEPT_BYTES_MAX,
  API_PINS_ACCEPTED,
  API_PINS_DIFF,
  API_SECRETS,
  API_SERVER,
  API_SERVER_SERIES,
  API_SERVERS,
  PROBE_BODY,
  SERIES_QUERY,
  SERVERS_QUERY,
} from './server-endpoints.ts';
import {
  API_LOGGED_IN,
  API_LOGGED_OUT,
  API_LOGIN_LINK,
  API_SESSION,
  LOGIN_BODY,
  LOGIN_LINK_BODY,
} from './session.ts';
import { STEWARD_ENDPOINTS } from './steward-endpoints.ts';

/** What a browser offers as the subprotocol of the stream, beside `bearer.TOKEN` or `page.TOKEN`. */
export const API_STREAM_PROTOCOL = 'subluminal.v1';
const PRODUCER_LENGTH_MAX = 256;

const name = string();

const STATS_QUERY = closed(RANGE_FIELDS);

const POLICIES_QUERY = closed({
  limit: optional(integer({ min: 1, max: API_POLICIES_LIMIT.max }), 'How many; 50.'),
});

const DECISION_FILTER = oneOf(...ACTION.values, 'REFUSED');

const STREAM_QUERY = closed({
  after: optional(SEQ, 'First everything behind this seq; without it only what is new.'),
  run: optional(name, 'Only events of this run.'),
  agent: optional(name, 'Only events of this agent.'),
  server: optional(name, 'Only events that name this server.'),
  tool: optional(name, 'Only events that name this tool.'),
  decision: optional(DECISION_FILTER, 'Only decisions, and of them only these.'),
});

const INGEST_QUERY = closed({
  producer: required(string({ lengthMax: PRODUCER_LENGTH_MAX }), 'Whose lines they are.'),
  seq: required(SEQ, 'The number of the first line; the others follow. Each is taken once.'),
});

export type ApiStreamQuery = Infer<typeof STREAM_QUERY>;

/** What each is for is in docs/reference/http-api.md; a test holds the two together. */
export const API_ENDPOINTS = {
  health: endpoint('health', API_HEALTH),
  session: endpoint('session', API_SESSION),
  login: {
    ...endpoint('login', API_LOGGED_IN),
    input: input(LOGIN_BODY),
    access: 'anyone',
  },
  logout: {
    ...endpoint('logout', API_LOGGED_OUT),
    input: input(NOTHING),
    access: 'viewer',
  },
  loginLink: {
    ...endpoint('login/link', API_LOGIN_LINK),
    input: input(LOGIN_LINK_BODY),
    access: 'token',
  },
  runs: search('runs', API_RUNS_PAGE, RUNS_QUERY),
  run: endpoint('runs/{run_id}', API_RUN),
  summary: endpoint('runs/{run_id}/summary', API_RUN_SUMMARY),
  events: {
    ...search('runs/{run_id}/events', API_EVENT_LINE, EVENTS_QUERY),
    kind: 'lines',
  },
  calls: search('calls', API_CALLS_PAGE, CALLS_QUERY),
  call: endpoint('calls/{run_id}/{call_id}', API_CALL_DETAIL),
  record: endpoint('calls/{run_id}/{call_id}/record', API_CALL_RECORD),
  histogram: search('histogram', API_HISTOGRAM, HISTOGRAM_QUERY),
  activity: search('activity', API_RUNS_ACTIVITY, ACTIVITY_QUERY),
  cost: search('cost', API_COST, COST_QUERY),
  ledger: endpoint('ledger', API_LEDGER),
  verify: { ...endpoint('ledger/verify', API_VERIFY_JOB), input: input(VERIFY_BODY) },
  prune: { ...endpoint('ledger/prune', API_PRUNE_JOB), input: input(PRUNE_BODY) },
  stats: search('stats', API_STATS, STATS_QUERY),
  policies: search('policies', API_POLICIES, POLICIES_QUERY),
  approvals: search('approvals', API_APPROVALS, APPROVALS_QUERY),
  approval: endpoint('approvals/{id}', API_APPROVAL),
  approve: {
    ...endpoint('approvals/{id}/approve', API_DECIDED),
    input: input(APPROVE_BODY),
  },
  reject: {
    ...endpoint('approvals/{id}/reject', API_DECIDED),
    input: input(REJECT_BODY),
  },
  grants: search('grants', API_GRANTS, GRANTS_QUERY),
  revoke: { ...endpoint('grants/{id}/revoke', API_REVOKED), input: input(NOTHING) },
  servers: search('servers', API_SERVERS, SERVERS_QUERY),
  server: search('servers/{server_name}', API_SERVER, SERVERS_QUERY),
  serverSeries: search('servers/{server_name}/series', API_SERVER_SERIES, SERIES_QUERY),
  pinsDiff: endpoint('pins/{server_name}/diff', API_PINS_DIFF),
  pinsProbe: {
    ...endpoint('pins/{server_name}/probe', API_PINS_DIFF),
    input: input(PROBE_BODY),
  },
  pinsAccept: {
    ...endpoint('pins/{server_name}/accept', API_PINS_ACCEPTED),
    input: input(ACCEPT_PINS_BODY, API_ACCEPT_BYTES_MAX),
  },
  hints: search('hints', API_HINTS, HINTS_QUERY),
  promoteHint: {
    ...endpoint('hints/{run_id}/{call_id}/promote', API_PROMOTED),
    input: input(PROMOTE_BODY),
  },
  secrets: endpoint('secrets', API_SECRETS),
  ...POLICY_ENDPOINTS,
  ...STEWARD_ENDPOINTS,
  ingest: {
    ...search('ingest', API_TAKEN, INGEST_QUERY),
    body: { bytesMax: 8 * 1024 * 1024, linesMax: 5_000 },
    access: 'producer',
  },
  stream: {
    ...search('stream', API_STREAM_MESSAGE, STREAM_QUERY),
    kind: 'stream',
  },
} as const satisfies { readonly [name: string]: ApiEndpoint };

export type ApiEndpointName = keyof typeof API_ENDPOINTS;
/** What each endpoint answers, takes as parameters, and takes as its body. */
interface ApiTypes {
  readonly answer: { [N in ApiEndpointName]: Infer<(typeof API_ENDPOINTS)[N]['answer']> };
  readonly query: {
    [N in ApiEndpointName]: (typeof API_ENDPOINTS)[N]['query'] extends ApiQuery<infer Q>
      ? Q
      : never;
  };
  readonly body: {
    [N in ApiEndpointName]: (typeof API_ENDPOINTS)[N] extends { readonly input: ApiInput<infer B> }
      ? B
      : never;
  };
}
export type ApiAnswerOf<N extends ApiEndpointName> = ApiTypes['answer'][N];
export type ApiQueryOf<N extends ApiEndpointName> = ApiTypes['query'][N];
export type ApiBodyOf<N extends ApiEndpointName> = ApiTypes['body'][N];

export type ApiHealth = Infer<typeof API_HEALTH>;
export type ApiRun = Infer<typeof API_RUN>;
export type ApiRunSummary = Infer<typeof API_RUN_SUMMARY>;
export type ApiCall = Infer<typeof API_CALL>;
export type ApiCallDetail = Infer<typeof API_CALL_DETAIL>;
export type ApiStats = Infer<typeof API_STATS>;
export type ApiPolicies = Infer<typeof API_POLICIES>;
export type ApiError = Infer<typeof API_ERROR>;

export { API_ERROR, API_POLICIES_LIMIT };
