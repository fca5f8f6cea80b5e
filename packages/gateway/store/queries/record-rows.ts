// Rows of records, from the cells of the database.
import type { AuditCells, CostCells, RoutingCells } from '../tables.ts';
import type { AuditRow, CostRow, RoutingRow } from '../types.ts';
import { objectIn, objectOrNull, objectsIn, stringsIn } from './row-text.ts';

export function auditRow(row: AuditCells): AuditRow & { readonly id: number } {
  return {
    id: row.id,
    eventMs: row.event_ms,
    traceId: row.trace_id,
    sessionId: row.session_id,
    tenantId: row.tenant_id,
    userId: row.user_id,
    teamId: row.team_id,
    repoId: row.repo_id,
    eventType: row.event_type,
    decision: objectOrNull(row.decision),
    ruleIds: stringsIn(row.rule_ids),
    detail: objectOrNull(row.detail),
    requestSummary: objectOrNull(row.request_summary),
    routedTo: row.routed_to,
    fallbackChain: row.fallback_chain === null ? null : objectsIn(row.fallback_chain),
    errorCode: row.error_code,
  };
}

export function costRow(row: CostCells): CostRow {
  return {
    eventMs: row.event_ms,
    traceId: row.trace_id,
    sessionId: row.session_id,
    attemptNo: row.attempt_no,
    tenantId: row.tenant_id,
    userId: row.user_id,
    teamId: row.team_id,
    repoId: row.repo_id,
    taskType: row.task_type,
    ruleId: row.rule_id,
    provider: row.provider,
    endpointId: row.endpoint_id,
    model: row.model,
    pool: row.pool,
    isPrivate: Boolean(row.is_private),
    isShadow: Boolean(row.is_shadow),
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheCreateTokens: row.cache_create_tokens,
    costMicros: row.cost_micros,
    costSource: row.cost_source,
    latencyMs: row.latency_ms,
    isSuccess: Boolean(row.is_success),
    errorClass: row.error_class,
  };
}

export function routingRow(row: RoutingCells): RoutingRow {
  return {
    eventMs: row.event_ms,
    traceId: row.trace_id,
    attemptNo: row.attempt_no,
    tenantId: row.tenant_id,
    teamId: row.team_id,
    decision: objectIn(row.decision),
    pool: row.pool,
    member: objectIn(row.member),
    choice: objectIn(row.choice),
    fallbackChain: objectsIn(row.fallback_chain),
    degradedFeatures: stringsIn(row.degraded_features),
    breakerState: row.breaker_state,
    seed: row.seed,
    error: row.error,
  };
}
