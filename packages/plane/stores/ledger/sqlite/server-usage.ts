// What servers were asked, and how they did: totals by tool, series over time, and what shims told of them.

import { setImmediate as nextTurn } from 'node:timers/promises';
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
import { lineAt, lineFinder } from './line-blocks.ts';
import type { SqlRow } from './load.ts';
import { integerCell, integerOrNull, textCell, textOrNull, textsOf, where } from './rows.ts';
import { NOTICE_TYPES } from './schema.ts';

const RANGE = 'created_at >= ? AND created_at < ?';
const REFUSED = "decision <> 'ALLOW'";
/** An answer that a gate held back is no failure of the server. */
const FAILED = `status <> 'OK' AND decision = 'ALLOW' AND COALESCE(error_class, '') <> 'policy_block'`;
const TOOLS_MAX = 20_000;
const NOTICES_PAGE = 500;
/** So many are counted in one go. */
const TURN_TOOLS = 200;

function rangeOf({ fromMs = 0, toMs = Number.MAX_SAFE_INTEGER }: TimeRange): [number, number] {
  return [fromMs, toMs];
}

/** By server and tool. Each number comes from the index that has it, and of that only the time asked for is read. */
export async function serverUse(
  connection: Connection,
  range: TimeRange,
): Promise<readonly ServerUse[]> {
  const between = rangeOf(range);
  const counts = (index: string, matching: string) => {
    const sql = `SELECT server_name, tool_name, count(*) AS count FROM tool_calls INDEXED BY ${index}
      WHERE ${matching} AND ${RANGE} GROUP BY server_name, tool_name`;
    const rows = connection.all(sql, ...between).map(toolOf);
    return new Map(rows.map(({ key, row }) => [key, integerCell(row, 'count')]));
  };
  const refused = counts('calls_refused', REFUSED);
  const failed = counts('calls_failed', FAILED);
  const totals = `SELECT count(*) AS count, max(created_at) AS last_at
    FROM tool_calls INDEXED BY calls_server_tool
    WHERE server_name = ? AND tool_name = ? AND ${RANGE}`;
  const used: ServerUse[] = [];
  for await (const { server_name, tool_name, key } of calledTools(connection)) {
    const row = connection.one(totals, server_name, tool_name, ...between);
    const lastMs = integerOrNull(row, 'last_at');
    if (lastMs === null) continue;
    const calls = integerCell(row, 'count');
    const others = { refused: refused.get(key) ?? 0, errors: failed.get(key) ?? 0 };
    used.push({ server_name, tool_name, calls, ...others, last_call_at_ms: lastMs });
  }
  return used;
}

function toolOf(row: SqlRow) {
  const server_name = textCell(row, 'server_name');
  const tool_name = textCell(row, 'tool_name');
  return { server_name, tool_name, key: JSON.stringify([server_name, tool_name]), row };
}

/**
 * Every tool of the ledger. Jumps from name to name by the index: it takes no longer with more calls. An agent may have
 * made up thousands of names, so others get their turn between.
 */
async function* calledTools(connection: Connection) {
  const first = 'SELECT server_name, tool_name FROM tool_calls INDEXED BY calls_server_tool WHERE';
  // Two questions: SQLite reads all calls of a tool to get behind a pair of names.
  const tool = `${first} server_name = ? AND tool_name > ? ORDER BY tool_name LIMIT 1`;
  const server = `${first} server_name > ? ORDER BY server_name, tool_name LIMIT 1`;
  // Turns have no server.
  let row = connection.get(server, '');
  for (let count = 1; row !== undefined && count <= TOOLS_MAX; count++) {
    const found = toolOf(row);
    yield found;
    if (count % TURN_TOOLS === 0) await nextTurn();
    const { server_name, tool_name } = found;
    row = connection.get(tool, server_name, tool_name) ?? connection.get(server, server_name);
  }
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
  const sql = `SELECT seq FROM events INDEXED BY events_notices
    WHERE ${NOTICE_TYPES} AND type = ? AND ts >= ? AND seq < ? ORDER BY seq DESC LIMIT ?`;
  const packed = lineFinder(connection);
  const notices: ServerNotice[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const seqs = connection
      .all(sql, type, fromMs, before, NOTICES_PAGE)
      .map((row) => integerCell(row, 'seq'));
    for (const seq of seqs) {
      const line = lineAt(connection, seq, packed);
      // A first sieve in the text: the reader of the event decides.
      const isSaid = words.length === 0 || words.some((word) => line?.includes(word) === true);
      if (line !== null && isSaid) notices.push({ seq, line });
      if (notices.length === limit) return notices;
    }
    if (seqs.length < NOTICES_PAGE) return notices;
    before = seqs.at(-1) ?? before;
  }
}
