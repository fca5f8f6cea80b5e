// The rows of the tables, as queries see them. Both engines give JSON as its text and integers as numbers.
import type { Caller } from '@subluminal/core/routing';
import type { Generated, Kysely, Selectable } from 'kysely';
import type { BudgetLimit, TurnApprovalRow } from './types.ts';

/** For what belongs to the installation and not to one of its tenants. */
export const DEFAULT_TENANT = 'default';

/** The number of the routing row that a shadow evaluation leaves: behind those of all attempts. */
export const SHADOW_ATTEMPT = 1_000;

export type StoreQueries = Kysely<StoreTables>;

export interface StoreTables {
  readonly gateway_user: {
    tenant_id: string;
    user_id: string;
    role: Caller['role'];
    created_ms: number;
  };
  readonly api_key: {
    id: string;
    tenant_id: string;
    user_id: string;
    hash: string;
    last4: string;
    name: string;
    created_ms: number;
    revoked_ms: number | null;
  };
  readonly setup_token: { hash: string; tenant_id: string; created_ms: number };
  readonly setup: { tenant_id: string; done_ms: number };
  readonly invite: {
    token_hash: string;
    tenant_id: string;
    user_id: string;
    role: Caller['role'];
    created_by: string;
    expires_ms: number;
    used_ms: number | null;
  };
  readonly repo_binding: {
    tenant_id: string;
    repo_id: string;
    machine_id: string;
    user_id: string;
    remote_url: string;
    expires_ms: number;
    revoked_ms: number | null;
  };
  readonly budget_counter: {
    tenant_id: string;
    scope: BudgetLimit['scope'];
    key: string;
    period: string;
    used_micros: number;
    reserved_micros: number;
    updated_ms: number;
  };
  readonly budget_reservation: { id: string; state: string; settled_ms: number | null };
  readonly audit_event: AuditTable;
  readonly audit_retention: { tenant_id: string; before_ms: number };
  readonly cost_event: CostTable;
  readonly cost_daily: DailyTable;
  readonly routing_event: RoutingTable;
  readonly raw_record: { trace_id: string; expires_ms: number };
  readonly approval_request: ApprovalTable;
  readonly webhook: {
    id: string;
    tenant_id: string;
    url: string;
    events: string;
    secret_ref: string;
    created_ms: number;
  };
  readonly webhook_delivery: {
    id: string;
    tenant_id: string;
    webhook_id: string;
    event: string;
    body: string;
    attempts: number;
    due_ms: number;
  };
  readonly breaker: {
    tenant_id: string;
    key: string;
    opened_ms: number;
    probe_ms: number | null;
  };
}

interface AuditTable {
  id: Generated<number>;
  event_ms: number;
  trace_id: string;
  session_id: string | null;
  tenant_id: string;
  user_id: string;
  team_id: string;
  repo_id: string | null;
  event_type: string;
  decision: string | null;
  rule_ids: string;
  detail: string | null;
  request_summary: string | null;
  routed_to: string | null;
  fallback_chain: string | null;
  error_code: string | null;
}

interface CostTable {
  id: Generated<number>;
  event_ms: number;
  trace_id: string;
  session_id: string | null;
  attempt_no: number;
  tenant_id: string;
  user_id: string;
  team_id: string;
  repo_id: string | null;
  task_type: string;
  rule_id: string | null;
  provider: string;
  endpoint_id: string;
  model: string;
  pool: string;
  /** SQLite has numbers for flags. */
  is_private: boolean | number;
  is_shadow: boolean | number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_create_tokens: number;
  cost_micros: number;
  cost_source: 'provider_usage' | 'estimated';
  latency_ms: number;
  is_success: boolean | number;
  error_class: string | null;
}

interface DailyTable {
  tenant_id: string;
  day: number;
  team_id: string;
  user_id: string;
  repo_id: string;
  provider: string;
  model: string;
  pool: string;
  task_type: string;
  rule_id: string;
  cost_micros: number;
  input_tokens: number;
  output_tokens: number;
  requests: number;
  failed: number;
}

interface RoutingTable {
  id: Generated<number>;
  event_ms: number;
  trace_id: string;
  attempt_no: number;
  tenant_id: string;
  team_id: string;
  decision: string;
  pool: string;
  member: string;
  choice: string;
  fallback_chain: string;
  degraded_features: string;
  breaker_state: string;
  seed: string;
  error: string | null;
}

interface ApprovalTable {
  id: string;
  trace_id: string;
  tenant_id: string;
  requestor: string;
  team_id: string;
  repo_id: string | null;
  snapshot: string;
  state: TurnApprovalRow['state'];
  created_ms: number;
  expires_ms: number;
  resolved_ms: number | null;
  resolver: string | null;
  note: string | null;
  key_id: string | null;
  request_hash: string | null;
  used_ms: number | null;
}

export type AuditCells = Selectable<AuditTable>;
export type CostCells = Selectable<CostTable>;
export type RoutingCells = Selectable<RoutingTable>;
export type ApprovalCells = Selectable<ApprovalTable>;
