// Filters for names. Globs become the names that fit them: there are few names, and many calls.
import { nameTest } from '../args/parse-filters.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import type { CallFilter, NamePattern } from '../store/query.ts';
import type { Connection } from './connection.ts';
import { type Condition, textCell } from './rows.ts';

const NAMES_MAX = 10_000;
export const IN_NAMES = 'IN (SELECT value FROM json_each(?))';
const APPROVERS = 'SELECT DISTINCT decided_by AS name FROM approvals WHERE decided_by IS NOT NULL';
const PRINCIPALS = 'SELECT DISTINCT principal AS name FROM runs WHERE principal IS NOT NULL';
const FROM_PRINCIPALS = `c.run_id IN (SELECT run_id FROM runs WHERE principal ${IN_NAMES})`;
const NOT_FROM_CLIENTS = `c.run_id NOT IN (SELECT run_id FROM runs WHERE client ${IN_NAMES})`;
const APPROVED_BY = `(c.run_id, c.call_id) IN (SELECT run_id, call_id FROM approvals
  WHERE state = 'approved' AND decided_by ${IN_NAMES})`;

/** A name itself; undefined for a glob. */
export function nameIn(pattern: NamePattern | undefined): string | undefined {
  return typeof pattern === 'string' ? pattern : undefined;
}

export function namedConditions(connection: Connection, filter: CallFilter): readonly Condition[] {
  const { serverName, toolName, principal, clientsExcept, approvedBy } = filter;
  const servers = distinctNames('server_name', 'calls_server_tool');
  const tools = distinctNames('tool_name', 'calls_tool');
  const globbed = (sql: string, pattern: NamePattern | undefined) =>
    typeof pattern === 'string' ? undefined : namesJson(connection, sql, pattern);
  return [
    [`c.server_name ${IN_NAMES}`, globbed(servers, serverName)],
    [`c.tool_name ${IN_NAMES}`, globbed(tools, toolName)],
    [FROM_PRINCIPALS, namedPrincipals(connection, principal)],
    [NOT_FROM_CLIENTS, clientsExcept && JSON.stringify(clientsExcept)],
    [APPROVED_BY, namesJson(connection, APPROVERS, approvedBy)],
  ];
}

export function namedPrincipals(
  connection: Connection,
  pattern: NamePattern | undefined,
): string | undefined {
  return namesJson(connection, PRINCIPALS, pattern);
}

/** Jumps from name to name by the index, so that it takes no longer with more calls. */
function distinctNames(column: string, index: string): string {
  const next = `SELECT min(${column}) FROM tool_calls INDEXED BY ${index}`;
  return `WITH RECURSIVE names (name) AS (
      ${next} UNION ALL SELECT (${next} WHERE ${column} > name) FROM names WHERE name IS NOT NULL)
    SELECT name FROM names WHERE name IS NOT NULL`;
}

/** The names that are asked for, as JSON; undefined when none are. */
function namesJson(
  connection: Connection,
  sql: string,
  pattern: NamePattern | undefined,
): string | undefined {
  if (pattern === undefined) return undefined;
  if (typeof pattern === 'string') return JSON.stringify([pattern]);
  const rows = connection.all(`${sql} LIMIT ?`, NAMES_MAX + 1);
  if (rows.length > NAMES_MAX) {
    const detail = `There are more than ${NAMES_MAX} names: give one name instead of a glob.`;
    throw ledgerFailure('SUB_LEDGER_QUERY', detail);
  }
  const fits = nameTest(pattern);
  const names = rows.map((row) => textCell(row, 'name'));
  return JSON.stringify(names.filter((name) => name !== '' && fits(name)));
}
