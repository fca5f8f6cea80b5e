// Filters of calls as conditions, and the index that finds them.
import type { CallFilter, Position } from '../store/query.ts';
import type { Connection } from './connection.ts';
import { nameIn } from './name-conditions.ts';
import type { Condition } from './rows.ts';
import { indexPart, startOfHash } from './schema.ts';

/** So many calls are sorted or checked in no time. */
const RARE_CALLS_MAX = 20_000;

/** How SQLite gets at the calls: by the index of the filter that narrows most, or by their ids. */
export function accessFor(connection: Connection, filter: CallFilter): string {
  const leader = leaderOf(connection, filter);
  return leader === undefined ? 'NOT INDEXED' : `INDEXED BY ${leader}`;
}

/** The other filters only check. */
function leaderOf(connection: Connection, filter: CallFilter): string | undefined {
  const { agentId, decision, status } = filter;
  const serverName = nameIn(filter.serverName);
  const toolName = nameIn(filter.toolName);
  const isRare = (index: string, column: string, value: string) => {
    const sql = `SELECT 1 FROM tool_calls INDEXED BY ${index} WHERE ${column} = ? LIMIT 1 OFFSET ?`;
    return connection.get(sql, value, RARE_CALLS_MAX) === undefined;
  };
  if (filter.argsHash !== undefined) return 'calls_args';
  if (filter.runId !== undefined) return 'calls_run';
  if (filter.approvedBy !== undefined) return 'calls_key';
  if (filter.ruleId !== undefined) return 'calls_rule';
  if (filter.provider !== undefined) return 'calls_model';
  if (toolName !== undefined && isRare('calls_tool', 'tool_name', toolName)) return 'calls_tool';
  if (decision === 'ASKED') return undefined;
  if (decision !== undefined && decision !== 'ALLOW') return 'calls_refused';
  if (status !== undefined && status !== 'OK') return 'calls_failed';
  if (toolName !== undefined) return serverName === undefined ? 'calls_tool' : 'calls_server_tool';
  if (agentId !== undefined) return 'calls_agent';
  // This index is not in the order of time: few calls are sorted quickly, many are soon met.
  const byServer = 'calls_server_tool';
  const isFew = serverName !== undefined && isRare(byServer, 'server_name', serverName);
  return isFew ? byServer : 'calls_time';
}

const ALL_PARTS = `WITH RECURSIVE part (n) AS (
    SELECT ${indexPart('min(id)')} FROM tool_calls
    UNION ALL SELECT n + 1 FROM part WHERE n < (SELECT ${indexPart('max(id)')} FROM tool_calls)
  ) SELECT n FROM part`;

export function conditionsOf(
  filter: CallFilter,
  after: Position | undefined,
): readonly Condition[] {
  const { decision, status, provider, model } = filter;
  const isTurn = (provider ?? model) !== undefined;
  return [
    // In the words of the index, which is looked at part by part.
    [
      `${indexPart('c.id')} IN (${ALL_PARTS}) AND ${startOfHash('c.args_hash')} = ${startOfHash('?')}`,
      filter.argsHash,
    ],
    ['c.args_hash = ?', filter.argsHash],
    ['c.run_id = ?', filter.runId],
    ['c.rule_id = ?', filter.ruleId],
    ...decided(decision),
    ...ended(status),
    ['c.tool_name = ?', nameIn(filter.toolName)],
    ['c.server_name = ?', nameIn(filter.serverName)],
    ['c.agent_id = ?', filter.agentId],
    ['c.kind = ?', filter.kind],
    // In the words of the partial index.
    ...(isTurn ? ([["c.kind = 'turn'"]] as const) : []),
    ['c.provider = ?', provider],
    ['c.model = ?', model],
    ['c.created_at >= ?', filter.fromMs],
    ['c.created_at < ?', filter.toMs],
    ['(c.created_at, c.id) < (?, ?)', after?.atMs, after && Number(after.id)],
  ];
}

/**
 * A person was asked about it, or it waits: nothing is decided about a call that waits. Each of the three is found by
 * an index, and they are few.
 */
const IS_ASKED = `c.id IN (
  SELECT asked.id FROM approvals a CROSS JOIN tool_calls asked INDEXED BY calls_key
    ON asked.run_id = a.run_id AND asked.call_id = a.call_id WHERE a.state <> 'auto_approved'
  UNION ALL SELECT id FROM tool_calls INDEXED BY calls_failed
    WHERE (status IS NULL OR status <> 'OK') AND status IS NULL AND decision IS NULL
  UNION ALL SELECT id FROM tool_calls INDEXED BY calls_refused
    WHERE decision <> 'ALLOW' AND reason_code IN ('APPROVAL_REQUIRED', 'APPROVAL_REJECTED',
      'APPROVAL_TIMEOUT', 'APPROVAL_CANCELLED', 'CONTENT_APPROVAL'))`;

/** Repeats the words of the partial index, so that SQLite knows that it may use it. */
export function decided(decision: CallFilter['decision']): readonly Condition[] {
  const exact: Condition = ['c.decision = ?', decision];
  if (decision === undefined || decision === 'ALLOW') return [exact];
  if (decision === 'ASKED') return [[IS_ASKED]];
  return decision === 'REFUSED' ? [["c.decision <> 'ALLOW'"]] : [["c.decision <> 'ALLOW'"], exact];
}

function ended(status: CallFilter['status']): readonly Condition[] {
  const exact: Condition = ['c.status = ?', status];
  if (status === undefined || status === 'OK') return [exact];
  if (status === 'PENDING') return [['c.status IS NULL']];
  return status === 'FAILED' ? [["c.status <> 'OK'"]] : [["c.status <> 'OK'"], exact];
}
