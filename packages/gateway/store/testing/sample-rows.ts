// Rows for tests of the store, each with what a test is about.
import { createHash, randomUUID } from 'node:crypto';
import type {
  AuditRow,
  BudgetLimit,
  CostRow,
  KeyRow,
  RawRow,
  Reservation,
  RoutingRow,
  TurnApprovalRow,
  TurnRecord,
} from '../types.ts';

/** All tables that hold rows of a tenant. */
export const TABLE_NAMES = [
  'api_key',
  'approval_request',
  'audit_chain_root',
  'audit_event',
  'audit_retention',
  'breaker',
  'budget_counter',
  'budget_reservation',
  'cost_daily',
  'cost_event',
  'gateway_user',
  'invite',
  'raw_access_audit',
  'raw_record',
  'repo_binding',
  'routing_event',
  'setup',
  'setup_token',
  'webhook',
  'webhook_delivery',
];

/** Tuesday, 17 November 2026, noon. */
export const NOON_MS = Date.UTC(2026, 10, 17, 12);

export function sampleKey(key: Partial<KeyRow> = {}): Omit<KeyRow, 'revokedMs'> {
  return {
    id: randomUUID(),
    tenantId: 'default',
    userId: 'ann',
    hash: createHash('sha256').update(randomUUID()).digest('hex'),
    last4: 'wxyz',
    name: 'laptop',
    createdMs: NOON_MS,
    ...key,
  };
}

export function sampleLimit(limit: Partial<BudgetLimit> = {}): BudgetLimit {
  return {
    scope: 'team_month',
    key: 'core',
    period: '2026-11',
    capMicros: 1_000,
    softMicros: 800,
    onExceeded: 'refuse',
    ...limit,
  };
}

export function sampleReservation(reservation: Partial<Reservation> = {}): Reservation {
  return {
    id: randomUUID(),
    traceId: randomUUID(),
    caller: {
      tenantId: 'default',
      userId: 'ann',
      teamId: 'core',
      role: 'developer',
      keyId: 'key',
    },
    estimateMicros: 100,
    limits: [sampleLimit()],
    nowMs: NOON_MS,
    ...reservation,
  };
}

export function sampleAudit(row: Partial<AuditRow> = {}): AuditRow {
  return {
    eventMs: NOON_MS,
    traceId: 'trace',
    sessionId: 'session',
    tenantId: 'default',
    userId: 'ann',
    teamId: 'core',
    repoId: 'api',
    eventType: 'turn',
    decision: { primary_action: { kind: 'allow' } },
    ruleIds: ['default-allow'],
    detail: null,
    requestSummary: { task_type: 'edit' },
    routedTo: 'anthropic:claude',
    fallbackChain: [{ endpoint_id: 'anthropic' }],
    errorCode: null,
    ...row,
  };
}

export function sampleCost(row: Partial<CostRow> = {}): CostRow {
  return {
    eventMs: NOON_MS,
    traceId: 'trace',
    sessionId: 'session',
    attemptNo: 1,
    tenantId: 'default',
    userId: 'ann',
    teamId: 'core',
    repoId: 'api',
    taskType: 'edit',
    ruleId: null,
    provider: 'anthropic',
    endpointId: 'anthropic-main',
    model: 'claude-sonnet',
    pool: 'main',
    isPrivate: false,
    isShadow: false,
    inputTokens: 1_000,
    outputTokens: 100,
    cacheReadTokens: 10,
    cacheCreateTokens: 1,
    costMicros: 4_500,
    costSource: 'provider_usage',
    latencyMs: 1_234,
    isSuccess: true,
    errorClass: null,
    ...row,
  };
}

export function sampleRouting(row: Partial<RoutingRow> = {}): RoutingRow {
  return {
    eventMs: NOON_MS,
    traceId: 'trace',
    attemptNo: 1,
    tenantId: 'default',
    teamId: 'core',
    decision: { primary_action: { kind: 'route' } },
    pool: 'main',
    member: { endpoint_id: 'anthropic-main', model: 'claude-sonnet', private: false },
    choice: { seed_key: 'session' },
    fallbackChain: [],
    degradedFeatures: ['cache_control'],
    breakerState: 'closed',
    seed: 'abc123',
    error: null,
    ...row,
  };
}

export function sampleRaw(row: Partial<RawRow> = {}): RawRow {
  return {
    traceId: 'trace',
    tenantId: 'default',
    userId: 'ann',
    teamId: 'core',
    repoId: 'api',
    sensitivity: 'low',
    storagePolicy: 'metadata_only',
    createdMs: NOON_MS,
    expiresMs: NOON_MS + 30 * 86_400_000,
    ...row,
  };
}

export function sampleRecord(record: Partial<TurnRecord> = {}): TurnRecord {
  return { settlement: null, audit: [], costs: [], routing: [], raw: null, ...record };
}

/** All that one turn leaves behind. */
export function wholeRecord(traceId: string): TurnRecord {
  return sampleRecord({
    audit: [sampleAudit({ traceId }), sampleAudit({ traceId, eventType: 'turn_end' })],
    costs: [sampleCost({ traceId })],
    routing: [sampleRouting({ traceId })],
    raw: sampleRaw({ traceId }),
  });
}

export function sampleApproval(row: Partial<TurnApprovalRow> = {}): TurnApprovalRow {
  return {
    id: randomUUID(),
    traceId: 'trace',
    tenantId: 'default',
    requestor: 'ann',
    teamId: 'core',
    repoId: null,
    snapshot: { model: 'claude-opus', why: 'budget' },
    state: 'pending',
    createdMs: NOON_MS,
    expiresMs: NOON_MS + 60_000,
    resolvedMs: null,
    resolver: null,
    note: null,
    keyId: 'key',
    requestHash: null,
    usedMs: null,
    ...row,
  };
}
