export { API_PAGE_LIMIT } from './api/answers.ts';
export type {
  ApiApproval,
  ApiApprovals,
  ApiApprovalsQuery,
  ApiApprove,
  ApiDecided,
  ApiGrant,
  ApiGrants,
  ApiGrantsQuery,
  ApiGrantWish,
  ApiReject,
  ApiRevoked,
} from './api/approval-endpoints.ts';
export { API_APPROVALS_LIMIT } from './api/approval-endpoints.ts';
export type {
  Approval,
  ApprovalAbout,
  ApprovalAgent,
  ApprovalCall,
  ApprovalEnd,
  ArgLimit,
  Grant,
  GrantArgs,
  GrantEnd,
} from './api/approval-records.ts';
export {
  parseApproval,
  parseApprovalEnd,
  parseGrant,
  parseGrantEnd,
} from './api/approval-records.ts';
export type {
  CallSearch,
  CallSearchKey,
  SearchProblem,
  SearchTerm,
} from './api/call-search.ts';
export { CALL_SEARCH_KEYS, exactName, parseCallSearch, searchTermText } from './api/call-search.ts';
export type { ApiEndpoint, ApiInput, ApiQuery } from './api/define-endpoint.ts';
export type {
  ApiAnswerOf,
  ApiBodyOf,
  ApiCall,
  ApiCallDetail,
  ApiEndpointName,
  ApiError,
  ApiHealth,
  ApiPolicies,
  ApiQueryOf,
  ApiRun,
  ApiRunSummary,
  ApiStats,
  ApiStreamQuery,
} from './api/endpoints.ts';
export {
  API_ENDPOINTS,
  API_ERROR,
  API_POLICIES_LIMIT,
  API_STREAM_PROTOCOL,
} from './api/endpoints.ts';
export type {
  ApiHintedCall,
  ApiHints,
  ApiHintsQuery,
  ApiPromote,
  ApiPromoted,
} from './api/hint-endpoints.ts';
export { API_HINTS_LIMIT } from './api/hint-endpoints.ts';
export { durationMs, momentMs } from './api/moment.ts';
export type {
  ApiPolicyActive,
  ApiPolicyActiveQuery,
  ApiPolicyDiff,
  ApiPolicyDiffInput,
  ApiPolicyExplained,
  ApiPolicyExplainInput,
  ApiPolicyLint,
  ApiPolicyLintInput,
  ApiPolicyProblem,
  ApiPolicyReplay,
  ApiPolicyReplayInput,
  ApiPolicySaved,
  ApiPolicySaveInput,
  ApiPolicySuggested,
  ApiPolicySuggestInput,
  ApiPolicyTestInput,
  ApiPolicyTests,
} from './api/policy-endpoints.ts';
export { API_REPLAY_LIMIT } from './api/policy-endpoints.ts';
export type {
  ApiCallRecord,
  ApiCost,
  ApiHistogram,
  ApiLedger,
  ApiPruneJob,
  ApiRunsActivity,
  ApiVerifyJob,
  ApiVerifyReport,
} from './api/record-answers.ts';
export {
  API_COST_ROWS_MAX,
  API_RECORD_EVENTS_MAX,
  parseVerifyReport,
} from './api/record-answers.ts';
export type {
  ApiActivityQuery,
  ApiCallFilter,
  ApiCallsQuery,
  ApiCostQuery,
  ApiHistogramQuery,
  ApiPrune,
  ApiRunsQuery,
  ApiVerify,
} from './api/record-queries.ts';
export { API_ACTIVITY, API_BUCKETS, API_COST_BUCKETS_MAX } from './api/record-queries.ts';
export type {
  ApiAcceptPins,
  ApiPendingChange,
  ApiPinsAccepted,
  ApiPinsDiff,
  ApiProbe,
  ApiProbeWish,
  ApiSecrets,
  ApiSeenTool,
  ApiSeriesQuery,
  ApiServer,
  ApiServerSeries,
  ApiServers,
  ApiServersQuery,
  ApiServerTool,
} from './api/server-endpoints.ts';
export {
  API_DEFINITION_LENGTH_MAX,
  API_SERIES_BUCKETS,
  API_SERVERS_LIMIT,
} from './api/server-endpoints.ts';
export type {
  ApiKeyLogin,
  ApiLoggedIn,
  ApiLogin,
  ApiLoginLink,
  ApiLoginLinkWish,
  ApiSession,
  LedgerRole,
} from './api/session.ts';
export {
  API_LOGGED_IN,
  API_LOGGED_OUT,
  API_LOGIN_LINK,
  API_SESSION,
  KEY_LOGIN_BODY,
  LEDGER_ROLE,
  LEDGER_SESSION,
  LOGIN_PATH,
  PAGE_TOKEN_HEADER,
  PAGE_TOKEN_PROTOCOL,
} from './api/session.ts';
export { STEWARD_ENDPOINTS } from './api/steward-endpoints.ts';
export type {
  AnyArgMatch,
  ArgsMatch,
  Bundle,
  CommandMatch,
  HintRecipe,
  Match,
  NameMatch,
  Rule,
  RuleKindName,
  RuleOf,
  Scope,
  Selectors,
  Suggest,
} from './bundle.ts';
export { BUNDLE, RULE } from './bundle.ts';
export type {
  ContentAction,
  ContentSection,
  FullContentSection,
} from './bundle-content.ts';
export {
  CONTENT_DEFAULTS,
  CONTENT_SECTION,
  fullContent,
  unscannedAction,
} from './bundle-content.ts';
export type { FullTaintSection, TaintSection, TaintSink } from './bundle-taint.ts';
export { fullTaint, TAINT_DEFAULTS, TAINT_SECTION } from './bundle-taint.ts';
export type {
  Action,
  Decision,
  Hint,
  HintKind,
  Mode,
  PolicyRef,
  Profile,
  Refusal,
  Severity,
} from './decision/decision.ts';
export {
  DECISION,
  ERROR_DATA,
  parseErrorData,
} from './decision/decision.ts';
export type { DecisionLook } from './decision/looks.ts';
export { DECISION_LOOKS } from './decision/looks.ts';
export type { ReasonCode } from './decision/reasons.ts';
export { REASONS } from './decision/reasons.ts';
export type { Era, RefusedCall } from './decision/refusal.ts';
export { refusal } from './decision/refusal.ts';
export type { SubCode } from './errors/error-table.ts';
export { ERROR_CODES, errorFix, errorTitle } from './errors/error-table.ts';
export type { Failure } from './errors/failure.ts';
export {
  catchFailure,
  failure,
  isFailure,
  ThrownFailure,
  tableFailure,
} from './errors/failure.ts';
export type {
  CallError,
  CallStatus,
  CallSubject,
  ContentOutcome,
  EventDecision,
  Transport,
} from './events/call.ts';
export {
  eventDecision,
  MAX_INSPECT_BYTES,
  MAX_PREVIEW_BYTES,
  TRACE_RULES_MAX,
} from './events/call.ts';
export type { Client, Env, Producer, Workload } from './events/envelope.ts';
export { CLIENT, ENV } from './events/envelope.ts';
export type { ParsedEvent } from './events/parse.ts';
export { EVENT_LINE_LENGTH_MAX, parseEvent, parseEventLine } from './events/parse.ts';
export { POLICY_HELD_BACK } from './events/shim-health.ts';
export type { CallJudgement, CallRef, StartedCall } from './events/tool-call.ts';
export { JUDGEMENTS_MAX } from './events/tool-call.ts';
export { TURN_TOOL_CALLS_MAX } from './events/turn.ts';
export type { CallEvent, Event, EventBody, EventOf, EventType } from './events/types.ts';
export {
  callSubject,
  EVENT,
  EVENT_BODIES,
  eventShape,
  isCallEvent,
  isCallType,
  subjectNames,
} from './events/types.ts';
export type { EventWriter } from './events/writer.ts';
export { eventWriter, MalformedEvent } from './events/writer.ts';
export type {
  GatewayApproval,
  GatewayAuditEvent,
  GatewayCostAttempt,
  GatewayRole,
  GatewayRoutingEvent,
} from './gateway/api-answers.ts';
export {
  APPROVAL_RESOLVED,
  BUDGET_STATES,
  CHANGED,
  COST_SUMMARY,
  GATEWAY_ROLE,
  INVITE,
  ONBOARDED,
  POLICY_SNIPPET,
  REPO_BOUND,
  TURN_APPROVALS,
  VERSION_CHECK,
  WHOAMI,
} from './gateway/api-answers.ts';
export type {
  GatewayAnswerOf,
  GatewayBodyOf,
  GatewayEndpoint,
  GatewayEndpointName,
  GatewayQueryOf,
} from './gateway/api-endpoints.ts';
export { GATEWAY_ENDPOINTS } from './gateway/api-endpoints.ts';
export type {
  CostBucket,
  CostDimension,
  ExplainRequest,
  RepoBindingPayload,
  WebhookEvent,
} from './gateway/api-inputs.ts';
export {
  parseExplainRequest,
  parsePageKey,
  parseRepoBinding,
  WEBHOOK_EVENT,
} from './gateway/api-inputs.ts';
export type {
  BudgetsFile,
  ConfigFileForm,
  GatewayFile,
  ModelPrice,
  PoolsFile,
  PricingFile,
  ReposFile,
  TeamsFile,
  UsersFile,
  WebhooksFile,
} from './gateway/config-files.ts';
export { GATEWAY_CONFIG_FILES, MODEL_PRICES } from './gateway/config-files.ts';
export type { Level, ModelEnvelope, TaskType } from './gateway/envelope.ts';
export {
  ENVELOPE_VERSION,
  FILE_PATHS_MAX,
  MODEL_ENVELOPE,
  parseModelEnvelope,
  TASK_TYPES,
  WIRE_PROTOCOL,
} from './gateway/envelope.ts';
export type {
  ModelDecision,
  Modifier,
  PrimaryAction,
  SideEffect,
  TrustTier,
} from './gateway/model-decision.ts';
export { MODEL_DECISION, POOL_NAMES, TRUST_TIER } from './gateway/model-decision.ts';
export type {
  EvaluateRequest,
  EvaluateResponse,
  HealthResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  ObserveRequest,
  ObserveResponse,
  PolicyResponse,
  ResultRequest,
  ShimSummary,
  TerminateRequest,
} from './hub.ts';
export {
  HUB_ENDPOINTS,
  HUB_HEARTBEAT_INTERVAL_MS,
  HUB_OBSERVED_CHARS_MAX,
  HUB_READINESS,
  HUB_TIMEOUTS,
  HUB_UNLIKE_LENGTH_MAX,
  NO_CALLS,
  parseEvaluateRequest,
  parseEvaluateResponse,
  parseHealthResponse,
  parseHeartbeatRequest,
  parseHeartbeatResponse,
  parseObserveRequest,
  parseObserveResponse,
  parsePolicyResponse,
  parseResultRequest,
  parseTerminateRequest,
} from './hub.ts';
export type { ShimCounts } from './hub-counts.ts';
export { HUB_DECISIONS, HUB_METHODS, SHIM_COUNTERS } from './hub-counts.ts';
export type { ServeAuth, ServeKeysFile } from './serve/auth-section.ts';
export { SERVE_AUTH, SERVE_KEYS_FILE } from './serve/auth-section.ts';
export type { ServeFile, ServeFileServer } from './serve/serve-file.ts';
export { SERVE_FILE } from './serve/serve-file.ts';
export type { Mismatch, Parsed } from './shape/check.ts';
export {
  check,
  definedFields,
  describe,
  isJsonObject,
  isObject,
  isUuid,
  parseAs,
  parserFor,
} from './shape/check.ts';
export { withDefaults } from './shape/defaults.ts';
export { PACK_VERSION } from './shape/formats.ts';
export type { HoursFields } from './shape/hours.ts';
export { HOURS } from './shape/hours.ts';
export { shapeSchema } from './shape/json-schema.ts';
export type { Infer, JsonObject, JsonValue, ObjectShape, Shape } from './shape/shape.ts';
export type { SnapshotDocument, SnapshotFile } from './snapshot.ts';
export { SNAPSHOT_FILE, SNAPSHOT_FORMAT } from './snapshot.ts';
export { STEWARD_CONFIG_FILES } from './steward/config-files.ts';
export type { GuardrailsFile, StewardContact } from './steward/guardrails-file.ts';
export type { IntegrationsFile, StewardModel } from './steward/integrations-file.ts';
export type {
  PermissionLimits,
  PermissionsFile,
  PermissionTier,
  StewardChannel,
} from './steward/permissions-file.ts';
export { PERMISSION_TIERS, STEWARD_CHANNELS } from './steward/permissions-file.ts';
export type { ToolManifest } from './steward/tool-manifest.ts';
export { TOOL_MANIFEST } from './steward/tool-manifest.ts';
export type { StewardAnswers, StewardInputs, StewardMethod } from './steward-control/methods.ts';
export { STEWARD_CONTROL } from './steward-control/methods.ts';
