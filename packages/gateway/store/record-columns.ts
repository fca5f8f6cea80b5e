// The columns of what a turn leaves behind: how they are written, on either engine.
import { sha256 } from '@subluminal/plane/crypto';
import type { AuditRow, CostRow, RawRow, RoutingRow } from './types.ts';

export type ColumnKind = 'text' | 'integer' | 'flag' | 'json';
export type RecordCell = string | number | boolean | null;

export interface RecordTable<Row> {
  readonly name: string;
  readonly columns: readonly RecordColumn<Row>[];
}

export interface RecordColumn<Row> {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly cell: (row: Row) => RecordCell;
}

function column<Row>(
  name: string,
  kind: ColumnKind,
  cell: (row: Row) => RecordCell,
): RecordColumn<Row> {
  return { name, kind, cell: (row) => storable(kind, cell(row)) };
}

// oxlint-disable-next-line no-control-regex -- Postgres holds any text but this character.
const NUL = /\0/g;
/** Escapes of NUL and of half a surrogate pair: `JSON.stringify` writes whole pairs as they are. */
const UNSTORABLE_ESCAPE = /\\(?:\\|u(?:0000|d[89a-f][0-9a-f]{2}))/g;

/** What both engines take: a strange name from a client must not cost the whole row. */
function storable(kind: ColumnKind, cell: RecordCell): RecordCell {
  if (typeof cell === 'number') return Math.round(cell);
  if (typeof cell !== 'string') return cell;
  if (kind !== 'json') return cell.includes('\0') ? cell.replace(NUL, '\ufffd') : cell;
  return storableJson(cell);
}

/** The same for JSON, as `JSON.stringify` writes it. */
export function storableJson(text: string): string {
  if (!text.includes('\\u')) return text;
  return text.replace(UNSTORABLE_ESCAPE, (found) => (found === '\\\\' ? found : '\\ufffd'));
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** The cells of a row of the audit, its key first. */
export type AuditCellList = readonly RecordCell[];

/**
 * With a key that is the same when the same record is written again. It begins with the time, so that new keys stand
 * together at the end of their index.
 */
export function keyedAudit(rows: readonly AuditRow[]): readonly AuditCellList[] {
  return rows.map((row, place) => {
    const cells = AUDIT_COLUMNS.map(({ cell }) => cell(row));
    const hash = sha256(JSON.stringify([place, cells])).slice(0, 32);
    return [`${row.eventMs}-${hash}`, ...cells];
  });
}

const AUDIT_COLUMNS: readonly RecordColumn<AuditRow>[] = [
  column('event_ms', 'integer', (row) => row.eventMs),
  column('trace_id', 'text', (row) => row.traceId),
  column('session_id', 'text', (row) => row.sessionId),
  column('tenant_id', 'text', (row) => row.tenantId),
  column('user_id', 'text', (row) => row.userId),
  column('team_id', 'text', (row) => row.teamId),
  column('repo_id', 'text', (row) => row.repoId),
  column('event_type', 'text', (row) => row.eventType),
  column('decision', 'json', (row) => jsonOrNull(row.decision)),
  column('rule_ids', 'json', (row) => JSON.stringify(row.ruleIds)),
  column('detail', 'json', (row) => jsonOrNull(row.detail)),
  column('request_summary', 'json', (row) => jsonOrNull(row.requestSummary)),
  column('routed_to', 'text', (row) => row.routedTo),
  column('fallback_chain', 'json', (row) => jsonOrNull(row.fallbackChain)),
  column('error_code', 'text', (row) => row.errorCode),
];

export const AUDIT: RecordTable<AuditCellList> = {
  name: 'audit_event',
  columns: [{ name: 'event_key', kind: 'text' } as const, ...AUDIT_COLUMNS].map(
    ({ name, kind }, place) => ({ name, kind, cell: (cells) => cells[place] ?? null }),
  ),
};

export const COSTS: RecordTable<CostRow> = {
  name: 'cost_event',
  columns: [
    column('event_ms', 'integer', (row) => row.eventMs),
    column('trace_id', 'text', (row) => row.traceId),
    column('session_id', 'text', (row) => row.sessionId),
    column('attempt_no', 'integer', (row) => row.attemptNo),
    column('tenant_id', 'text', (row) => row.tenantId),
    column('user_id', 'text', (row) => row.userId),
    column('team_id', 'text', (row) => row.teamId),
    column('repo_id', 'text', (row) => row.repoId),
    column('task_type', 'text', (row) => row.taskType),
    column('rule_id', 'text', (row) => row.ruleId),
    column('provider', 'text', (row) => row.provider),
    column('endpoint_id', 'text', (row) => row.endpointId),
    column('model', 'text', (row) => row.model),
    column('pool', 'text', (row) => row.pool),
    column('is_private', 'flag', (row) => row.isPrivate),
    column('is_shadow', 'flag', (row) => row.isShadow),
    column('input_tokens', 'integer', (row) => row.inputTokens),
    column('output_tokens', 'integer', (row) => row.outputTokens),
    column('cache_read_tokens', 'integer', (row) => row.cacheReadTokens),
    column('cache_create_tokens', 'integer', (row) => row.cacheCreateTokens),
    column('cost_micros', 'integer', (row) => row.costMicros),
    column('cost_source', 'text', (row) => row.costSource),
    column('latency_ms', 'integer', (row) => row.latencyMs),
    column('is_success', 'flag', (row) => row.isSuccess),
    column('error_class', 'text', (row) => row.errorClass),
  ],
};

export const ROUTING: RecordTable<RoutingRow> = {
  name: 'routing_event',
  columns: [
    column('event_ms', 'integer', (row) => row.eventMs),
    column('trace_id', 'text', (row) => row.traceId),
    column('attempt_no', 'integer', (row) => row.attemptNo),
    column('tenant_id', 'text', (row) => row.tenantId),
    column('team_id', 'text', (row) => row.teamId),
    column('decision', 'json', (row) => JSON.stringify(row.decision)),
    column('pool', 'text', (row) => row.pool),
    column('member', 'json', (row) => JSON.stringify(row.member)),
    column('choice', 'json', (row) => JSON.stringify(row.choice)),
    column('fallback_chain', 'json', (row) => JSON.stringify(row.fallbackChain)),
    column('degraded_features', 'json', (row) => JSON.stringify(row.degradedFeatures)),
    column('breaker_state', 'text', (row) => row.breakerState),
    column('seed', 'text', (row) => row.seed),
    column('error', 'text', (row) => row.error),
  ],
};

export const RAW: RecordTable<RawRow> = {
  name: 'raw_record',
  columns: [
    column('trace_id', 'text', (row) => row.traceId),
    column('tenant_id', 'text', (row) => row.tenantId),
    column('user_id', 'text', (row) => row.userId),
    column('team_id', 'text', (row) => row.teamId),
    column('repo_id', 'text', (row) => row.repoId),
    column('sensitivity', 'text', (row) => row.sensitivity),
    column('storage_policy', 'text', (row) => row.storagePolicy),
    column('created_ms', 'integer', (row) => row.createdMs),
    column('expires_ms', 'integer', (row) => row.expiresMs),
  ],
};

export const DAY_MS = 86_400_000;

/** Adds rows of costs to the sums of their days; in one order, so that two gateways never wait for each other. */
export function addDailySql(from: string): string {
  const key =
    'tenant_id, day, team_id, user_id, repo_id, provider, model, pool, task_type, rule_id';
  return `INSERT INTO cost_daily
    (${key}, cost_micros, input_tokens, output_tokens, requests, failed)
    SELECT tenant_id, event_ms / ${DAY_MS}, team_id, user_id, COALESCE(repo_id, ''), provider, model,
      pool, task_type, COALESCE(rule_id, ''), sum(cost_micros), sum(input_tokens), sum(output_tokens),
      count(*), sum(CASE WHEN is_success THEN 0 ELSE 1 END)
    FROM ${from}
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    ON CONFLICT (${key}) DO UPDATE SET
      cost_micros = cost_daily.cost_micros + excluded.cost_micros,
      input_tokens = cost_daily.input_tokens + excluded.input_tokens,
      output_tokens = cost_daily.output_tokens + excluded.output_tokens,
      requests = cost_daily.requests + excluded.requests,
      failed = cost_daily.failed + excluded.failed`;
}
