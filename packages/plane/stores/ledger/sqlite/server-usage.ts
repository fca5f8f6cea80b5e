// What servers were asked, and how they did: totals by tool, series over time, and what shims told of them.

import { parseJson } from '../../../os/index.ts';
import type {
  ServerNotice,
  ServerNoticesQuery,
  ServerSeries,
  ServerSeriesQuery,
  ServerUse,
  TimeRange,
} from '../store/query.ts';
import type { Connection } from './connection.ts';
import type { SqlRow } from './load.ts';
import { integerCell, integerOrNull, textCell, textOrNull, textsOf, where } from './rows.ts';
import { NOTICE_TYPES } from './schema.ts';

const RANGE = 'created_at >= ? AND created_at < ?';
const BY_TOOL = 'GROUP BY server_name, tool_name';
const REFUSED = "decision <> 'ALLOW'";
/** An answer that a gate held back is no failure of the server. */
const FAILED = `status <> 'OK' AND decision = 'ALLOW' AND COALESCE(error_class, '') <> 'policy_block'`;
const TOOLS_MAX = 20_000;

function rangeOf({ fromMs = 0, toMs = Number.MAX_SAFE_INTEGER }: TimeRange): [number, number] {
  return [fromMs, toMs];
}

/** By server and tool. Each number comes from the index that has it, since few calls fail or are refused. */
export function serverUse(connection: Connection, range: TimeRange): readonly ServerUse[] {
  const between = rangeOf(range);
  const columns = 'server_name, tool_name, count(*) AS count';
  const counts = (index: string, matching: string) => {
    const sql = `SELECT ${columns} FROM tool_calls INDEXED BY ${index}
      WHERE ${matching} AND ${RANGE} ${BY_TOOL}`;
    const rows = connection.all(sql, ...between);
    return new Map(rows.map((row) => [keyOf(row), integerCell(row, 'count')]));
  };
  const refused = counts('calls_refused', REFUSED);
  const failed = counts('calls_failed', FAILED);
  const sql = `SELECT ${columns}, max(created_at) AS last_at FROM tool_calls INDEXED BY calls_server_tool
    WHERE server_name <> '' AND ${RANGE} ${BY_TOOL} LIMIT ?`;
  return connection.all(sql, ...between, TOOLS_MAX).map((row) => ({
    server_name: textCell(row, 'server_name'),
    tool_name: textCell(row, 'tool_name'),
    calls: integerCell(row, 'count'),
    refused: refused.get(keyOf(row)) ?? 0,
    errors: failed.get(keyOf(row)) ?? 0,
    last_call_at_ms: integerCell(row, 'last_at'),
  }));
}

function keyOf(row: SqlRow): string {
  return JSON.stringify([textCell(row, 'server_name'), textCell(row, 'tool_name')]);
}

/** The risk classes of the last call of a tool. */
export function lastRiskClasses(
  connection: Connection,
  server: string,
  tool: string,
): readonly string[] {
  const sql = `SELECT risk_json FROM tool_calls INDEXED BY calls_server_tool
    WHERE server_name = ? AND tool_name = ? ORDER BY created_at DESC LIMIT 1`;
  const row = connection.get(sql, server, tool);
  return row === undefined ? [] : textsOf(parseJson(textOrNull(row, 'risk_json') ?? ''));
}

/** The clients of the runs that have called each server. */
export function serverClients(
  connection: Connection,
  range: TimeRange,
): ReadonlyMap<string, readonly string[]> {
  const span = spanOf(connection, range);
  const sql = `SELECT DISTINCT server_name, client FROM
      (SELECT DISTINCT server_name, run_id FROM tool_calls NOT INDEXED
        WHERE ${span.sql} AND server_name <> '') JOIN runs USING (run_id)
    WHERE client IS NOT NULL ORDER BY client`;
  const clients = new Map<string, string[]>();
  for (const row of connection.all(sql, ...span.values)) {
    const server = textCell(row, 'server_name');
    clients.set(server, [...(clients.get(server) ?? []), textCell(row, 'client')]);
  }
  return clients;
}

/**
 * The calls of a time as a piece of the table. Ids grow with time, so the piece is read from one end to the
 * other, which is several times as fast as each call by an index.
 */
function spanOf(connection: Connection, range: TimeRange) {
  const between = rangeOf(range);
  const ends = `SELECT min(id) AS first, max(id) AS last FROM tool_calls INDEXED BY calls_time WHERE ${RANGE}`;
  const row = connection.one(ends, ...between);
  return where([
    ['id >= ?', integerOrNull(row, 'first') ?? 0],
    ['id <= ?', integerOrNull(row, 'last') ?? -1],
    [RANGE, ...between],
  ]);
}

/** Calls, failures and latencies of a server in buckets of one length. */
export function serverSeries(connection: Connection, query: ServerSeriesQuery): ServerSeries {
  const { serverName, toolName, fromMs, toMs, buckets } = query;
  const bucketMs = Math.max(1, Math.ceil((toMs - fromMs) / buckets));
  const span = spanOf(connection, { fromMs, toMs });
  const tool = where([['tool_name = ?', toolName]]);
  const sql = `SELECT CAST((created_at - ?) / ? AS INTEGER) AS bucket,
      CASE WHEN decision = 'ALLOW' THEN latency_ms END AS latency, count(*) AS calls,
      count(*) FILTER (WHERE ${REFUSED}) AS refused, count(*) FILTER (WHERE ${FAILED}) AS errors
    FROM tool_calls NOT INDEXED WHERE ${span.sql} AND server_name = ? AND ${tool.sql}
    GROUP BY bucket, latency ORDER BY bucket, latency`;
  const all = [...span.values, serverName, ...tool.values];
  const series = {
    calls: zeros(buckets),
    refused: zeros(buckets),
    errors: zeros(buckets),
  };
  const latencies = Array.from({ length: buckets }, (): Latency[] => []);
  for (const row of connection.all(sql, fromMs, bucketMs, ...all)) {
    const bucket = integerCell(row, 'bucket');
    for (const name of ['calls', 'refused', 'errors'] as const) {
      series[name][bucket] = (series[name][bucket] ?? 0) + integerCell(row, name);
    }
    const latencyMs = integerOrNull(row, 'latency');
    if (latencyMs !== null) {
      latencies[bucket]?.push({ latencyMs, calls: integerCell(row, 'calls') });
    }
  }
  return {
    from_ms: fromMs,
    bucket_ms: bucketMs,
    ...series,
    p50_ms: latencies.map((bucket) => percentile(bucket, 0.5)),
    p95_ms: latencies.map((bucket) => percentile(bucket, 0.95)),
  };
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}

interface Latency {
  readonly latencyMs: number;
  readonly calls: number;
}

/** What so large a part of the calls took at most; the latencies are sorted. */
function percentile(latencies: readonly Latency[], part: number): number | null {
  const total = latencies.reduce((sum, { calls }) => sum + calls, 0);
  let left = Math.ceil(total * part);
  for (const { latencyMs, calls } of latencies) {
    left -= calls;
    if (left <= 0) return latencyMs;
  }
  return null;
}

/** Events about servers, the newest first. What was pruned is left out. */
export function serverNotices(
  connection: Connection,
  { type, words, fromMs, limit }: ServerNoticesQuery,
): readonly ServerNotice[] {
  // A first sieve in the text: the reader of the event decides.
  const said = words.map(() => 'instr(line, ?) > 0').join(' OR ') || '1';
  const sql = `SELECT seq, line FROM events INDEXED BY events_notices
    WHERE ${NOTICE_TYPES} AND type = ? AND ts >= ? AND line IS NOT NULL AND (${said})
    ORDER BY seq DESC LIMIT ?`;
  return connection.all(sql, type, fromMs, ...words, limit).map((row) => ({
    seq: integerCell(row, 'seq'),
    line: textCell(row, 'line'),
  }));
}
