// Rows of the store in the words of the contract.
import type {
  GatewayApproval,
  GatewayAuditEvent,
  GatewayCostAttempt,
  GatewayRoutingEvent,
} from '@subluminal/contracts';
import { SHADOW_ATTEMPT } from '../store/tables.ts';
import type {
  AuditRow,
  BudgetState,
  CostRow,
  RoutingRow,
  TurnApprovalRow,
} from '../store/types.ts';

const CENT_MICROS = 10_000;

export function centsOf(micros: number): number {
  return Math.round(micros / CENT_MICROS);
}

export function auditEvent(row: AuditRow & { readonly id: number }): GatewayAuditEvent {
  return {
    id: row.id,
    at_ms: row.eventMs,
    trace_id: row.traceId,
    session_id: row.sessionId,
    user_id: row.userId,
    team_id: row.teamId,
    repo_id: row.repoId,
    event_type: row.eventType,
    decision: row.decision,
    rule_ids: row.ruleIds,
    detail: row.detail,
    request_summary: row.requestSummary,
    routed_to: row.routedTo,
    error_code: row.errorCode,
  };
}

export function costAttempt(row: CostRow): GatewayCostAttempt {
  return {
    trace_id: row.traceId,
    session_id: row.sessionId,
    attempt_no: row.attemptNo,
    at_ms: row.eventMs,
    provider: row.provider,
    endpoint_id: row.endpointId,
    model: row.model,
    pool: row.pool,
    is_private: row.isPrivate,
    is_shadow: row.isShadow,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    cache_read_tokens: row.cacheReadTokens,
    cache_create_tokens: row.cacheCreateTokens,
    cost_micros: row.costMicros,
    cost_source: row.costSource,
    latency_ms: row.latencyMs,
    is_success: row.isSuccess,
    error_class: row.errorClass,
  };
}

export function routingEvent(row: RoutingRow): GatewayRoutingEvent {
  return {
    at_ms: row.eventMs,
    trace_id: row.traceId,
    attempt_no: row.attemptNo,
    is_shadow: row.attemptNo === SHADOW_ATTEMPT,
    team_id: row.teamId,
    decision: row.decision,
    pool: row.pool,
    member: row.member,
    fallback_chain: row.fallbackChain,
    degraded_features: row.degradedFeatures,
    breaker_state: row.breakerState,
    seed: row.seed,
    error: row.error,
  };
}

export function budgetAnswer({ limit, usedMicros, reservedMicros }: BudgetState) {
  const spent = usedMicros + reservedMicros;
  return {
    scope: limit.scope,
    key: limit.key,
    period: limit.period,
    cap_micros: limit.capMicros,
    soft_micros: limit.softMicros,
    used_micros: usedMicros,
    reserved_micros: reservedMicros,
    on_exceeded: limit.onExceeded,
    is_soft_hit: spent >= limit.softMicros,
    is_hard_hit: spent >= limit.capMicros,
  };
}

export function approvalAnswer(row: TurnApprovalRow): GatewayApproval {
  return {
    id: row.id,
    trace_id: row.traceId,
    requestor: row.requestor,
    team_id: row.teamId,
    repo_id: row.repoId,
    snapshot: row.snapshot,
    state: row.state,
    created_at_ms: row.createdMs,
    expires_at_ms: row.expiresMs,
    resolved_at_ms: row.resolvedMs,
    resolver: row.resolver,
    note: row.note,
    used_at_ms: row.usedMs,
  };
}
