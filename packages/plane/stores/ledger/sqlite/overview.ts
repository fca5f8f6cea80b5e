// Runs, totals, policies and rejects.
import { statSync } from 'node:fs';
import {
  type CallCounts,
  type CallFilter,
  type LedgerSize,
  limitOf,
  type Page,
  type PageRequest,
  type PolicyVersion,
  pageOf,
  positionOf,
  type RuleHits,
  type RunFilter,
  type RunRow,
  type RunUsage,
  type Stats,
} from '../store/query.ts';
import type { RejectRow } from '../store/stored-rows.ts';
import { POLICY_VERSIONS, RUNS } from '../store/tables.ts';
import type { Connection } from './connection.ts';
import type { SqlRow } from './load.ts';
import { IN_NAMES, namedPrincipals } from './name-conditions.ts';
import { integerCell, integerOrNull, readRow, textCell, textOrNull, where } from './rows.ts';

const TALLIES_MAX = 50;
const RUNS_IN_RANGE = 'SELECT count(*) AS count FROM runs WHERE first_at >= ? AND first_at < ?';
const COUNTS = `count(*) AS total,
  count(*) FILTER (WHERE decision = 'ALLOW') AS allowed,
  count(*) FILTER (WHERE decision NOT IN ('ALLOW', 'THROTTLE')) AS blocked,
  count(*) FILTER (WHERE decision = 'THROTTLE') AS throttled,
  count(*) FILTER (WHERE decision IS NULL) AS undecided,
  count(*) FILTER (WHERE decision = 'ALLOW' AND status <> 'OK'
    AND COALESCE(error_class, '') <> 'policy_block') AS errors`;
const USAGE = `(SELECT count(*) FROM hints WHERE hints.run_id = ?) AS hints,
  count(*) FILTER (WHERE kind = 'turn') AS turns, sum(tokens_in) AS tokens_in,
  sum(tokens_out) AS tokens_out, sum(cost_micros) AS cost_micros`;
/** Of calls that were allowed: an answer that a gate held back is no failure of the server. */
const HELD_BACK_IN_RANGE = `SELECT count(*) AS count FROM tool_calls INDEXED BY calls_failed
  WHERE status <> 'OK' AND decision = 'ALLOW' AND error_class = 'policy_block'
    AND created_at >= ? AND created_at < ?`;

export function searchRuns(
  connection: Connection,
  filter: RunFilter,
  request: PageRequest,
): Page<RunRow> {
  const limit = limitOf(request);
  const after = positionOf(request);
  const { agentId, principal, client, status, isDegraded, fromMs, toMs } = filter;
  const { sql: matching, values } = where([
    ['agent_id = ?', agentId],
    [`principal ${IN_NAMES}`, namedPrincipals(connection, principal)],
    ['client = ?', client],
    status === 'RUNNING' ? ['status IS NULL'] : ['status = ?', status],
    ...(isDegraded === true ? [['degraded_reason IS NOT NULL'] as const] : []),
    ['first_at >= ?', fromMs],
    ['first_at < ?', toMs],
    ['(first_at, run_id) < (?, ?)', after?.atMs, after?.id],
  ]);
  const sql = `SELECT * FROM runs WHERE ${matching}
    ORDER BY first_at DESC, run_id DESC LIMIT ?`;
  const rows = connection.all(sql, ...values, limit).map((row) => runOf(connection, row));
  return pageOf(rows, limit, ({ first_at_ms: atMs, run_id: id }) => ({ atMs, id }));
}

export function findRun(connection: Connection, runId: string): RunRow | undefined {
  const row = connection.get('SELECT * FROM runs WHERE run_id = ?', runId);
  return row && runOf(connection, row);
}

function runOf(connection: Connection, row: SqlRow): RunRow {
  const run_id = textCell(row, 'run_id');
  const sql = `SELECT ${COUNTS}, ${USAGE} FROM tool_calls WHERE run_id = ?`;
  const counts = connection.one(sql, run_id, run_id);
  const count = (name: keyof CallCounts | keyof RunUsage) => integerOrNull(counts, name) ?? 0;
  const calls = {
    total: count('total'),
    allowed: count('allowed'),
    blocked: count('blocked'),
    throttled: count('throttled'),
    undecided: count('undecided'),
    errors: count('errors'),
  };
  return {
    ...readRow(RUNS, row),
    calls,
    hints: count('hints'),
    turns: count('turns'),
    tokens_in: count('tokens_in'),
    tokens_out: count('tokens_out'),
    cost_micros: count('cost_micros'),
  };
}

/** Each answer comes from one index alone. */
export function statsOf(
  connection: Connection,
  filter: Pick<CallFilter, 'fromMs' | 'toMs'>,
): Stats {
  const { fromMs = Number.MIN_SAFE_INTEGER, toMs = Number.MAX_SAFE_INTEGER } = filter;
  const range = 'created_at >= ? AND created_at < ?';
  const tally = (columns: string, index: string, extra = '') =>
    connection.all(
      `SELECT ${columns}, count(*) AS count FROM tool_calls INDEXED BY ${index}
        WHERE ${extra} ${range} GROUP BY ${columns} ORDER BY count DESC LIMIT ?`,
      fromMs,
      toMs,
      TALLIES_MAX,
    );
  const groups = tally('decision, status', 'calls_decision_status');
  return {
    calls: sumOf(groups, numberOf(connection, HELD_BACK_IN_RANGE, fromMs, toMs)),
    runs: numberOf(connection, RUNS_IN_RANGE, fromMs, toMs),
    events: numberOf(connection, 'SELECT COALESCE(max(seq), 0) AS count FROM events'),
    decisions: countsBy(groups, 'decision').map(([decision, count]) => ({ decision, count })),
    statuses: countsBy(groups, 'status').map(([status, count]) => ({ status, count })),
    tools: tally('server_name, tool_name', 'calls_server_tool', "server_name <> '' AND").map(
      (row) => ({
        server_name: textCell(row, 'server_name'),
        tool_name: textCell(row, 'tool_name'),
        count: integerCell(row, 'count'),
      }),
    ),
    rules: tally('rule_id', 'calls_rule', 'rule_id IS NOT NULL AND').map((row) => ({
      rule_id: textCell(row, 'rule_id'),
      count: integerCell(row, 'count'),
    })),
  };
}

function numberOf(connection: Connection, sql: string, ...values: number[]): number {
  return integerCell(connection.one(sql, ...values), 'count');
}

/** The most frequent first. */
function countsBy(
  groups: readonly SqlRow[],
  column: string,
): readonly (readonly [value: string | null, count: number])[] {
  const counts = new Map<string | null, number>();
  for (const row of groups) {
    const value = textOrNull(row, column);
    counts.set(value, (counts.get(value) ?? 0) + integerCell(row, 'count'));
  }
  return [...counts].toSorted(([, left], [, right]) => right - left);
}

function sumOf(groups: readonly SqlRow[], heldBack: number): CallCounts {
  const sum = (test: (decision: string | null, status: string | null) => boolean) =>
    groups
      .filter((row) => test(textOrNull(row, 'decision'), textOrNull(row, 'status')))
      .reduce((total, row) => total + integerCell(row, 'count'), 0);
  const plain = new Set<string | null>(['ALLOW', 'THROTTLE', null]);
  return {
    total: sum(() => true),
    allowed: sum((decision) => decision === 'ALLOW'),
    blocked: sum((decision) => !plain.has(decision)),
    throttled: sum((decision) => decision === 'THROTTLE'),
    undecided: sum((decision) => decision === null),
    errors:
      sum((decision, status) => decision === 'ALLOW' && status !== null && status !== 'OK') -
      heldBack,
  };
}

const RULES_MAX = 4_000;

/** How often each rule decided calls since a time, or would have; each from one index alone. */
export function ruleHitsOf(connection: Connection, fromMs: number): readonly RuleHits[] {
  const hits = new Map<string, RuleHits>();
  for (const [column, index] of [
    ['rule_id', 'calls_rule'],
    ['would_rule_id', 'calls_would'],
  ] as const) {
    const sql = `SELECT ${column} AS rule, count(*) AS count, max(created_at) AS last
      FROM tool_calls INDEXED BY ${index}
      WHERE ${column} IS NOT NULL AND created_at >= ? GROUP BY ${column} LIMIT ?`;
    for (const row of connection.all(sql, fromMs, RULES_MAX)) {
      const rule_id = textCell(row, 'rule');
      const known = hits.get(rule_id) ?? { rule_id, hits: 0, would_hits: 0, last_hit_ms: 0 };
      const counted = column === 'rule_id' ? 'hits' : 'would_hits';
      const last_hit_ms = Math.max(known.last_hit_ms, integerCell(row, 'last'));
      hits.set(rule_id, { ...known, [counted]: integerCell(row, 'count'), last_hit_ms });
    }
  }
  return [...hits.values()];
}

export function policiesOf(connection: Connection, limit: number): readonly PolicyVersion[] {
  const sql = 'SELECT * FROM policy_versions ORDER BY created_at DESC LIMIT ?';
  return connection.all(sql, limit).map((row) => readRow(POLICY_VERSIONS, row));
}

export function rejectsOf(connection: Connection, limit: number): readonly RejectRow[] {
  const rows = connection.all('SELECT * FROM rejects ORDER BY id DESC LIMIT ?', limit);
  return rows.map((row) => ({
    producer: textCell(row, 'producer'),
    producerSeq: integerCell(row, 'producer_seq'),
    reason: textCell(row, 'reason'),
    line: textCell(row, 'line'),
    createdAtMs: integerCell(row, 'created_at'),
  }));
}

/** How large the ledger is, and from when to when it goes. */
export function sizeOf(connection: Connection): LedgerSize {
  const count = (from: string) => numberOf(connection, `SELECT count(*) AS count FROM ${from}`);
  const edges = connection.one('SELECT min(first_at) AS oldest, max(last_at) AS newest FROM runs');
  const bytes = [connection.file, `${connection.file}-wal`].map(
    (file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0,
  );
  return {
    size_bytes: bytes.reduce((sum, one) => sum + one, 0),
    pruned: count('events INDEXED BY events_pruned WHERE digest IS NOT NULL'),
    rejected: count('rejects'),
    runs: count('runs'),
    calls: count('tool_calls'),
    oldest_ms: integerOrNull(edges, 'oldest'),
    newest_ms: integerOrNull(edges, 'newest'),
  };
}
