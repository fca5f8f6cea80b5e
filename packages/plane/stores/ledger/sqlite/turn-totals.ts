// What turns have used and cost, added up.
import type { TurnTotal, TurnTotalsQuery } from '../store/query.ts';
import type { Connection } from './connection.ts';
import { integerCell, textCell } from './rows.ts';

const COLUMNS = {
  model: "provider || '/' || model",
  agent: 'tool_calls.agent_id',
  run: 'run_id',
  user: "COALESCE(runs.principal, '')",
  repo: "COALESCE(json_extract(runs.metadata_json, '$.workload.repo_path'), '')",
} as const;

/** More are left out, the cheapest first. */
const TOTALS_MAX = 1_000;

/** The dearest first. */
export function turnTotals(
  connection: Connection,
  { by, fromMs = 0, toMs = Number.MAX_SAFE_INTEGER }: TurnTotalsQuery,
): readonly TurnTotal[] {
  const sql = `SELECT ${COLUMNS[by]} AS name, count(*) AS turns,
      count(*) FILTER (WHERE decision NOT IN ('ALLOW')) AS refused,
      count(*) FILTER (WHERE decision = 'ALLOW' AND tool_calls.status <> 'OK') AS failed,
      COALESCE(sum(tokens_in), 0) AS tokens_in, COALESCE(sum(tokens_out), 0) AS tokens_out,
      COALESCE(sum(cost_micros), 0) AS cost_micros,
      count(*) FILTER (WHERE tokens_in IS NOT NULL AND cost_micros IS NULL) AS unpriced
    FROM tool_calls LEFT JOIN runs USING (run_id) WHERE kind = 'turn' AND created_at >= ? AND created_at < ?
    GROUP BY name ORDER BY cost_micros DESC, turns DESC, name LIMIT ?`;
  return connection.all(sql, fromMs, toMs, TOTALS_MAX).map((row) => ({
    name: textCell(row, 'name'),
    turns: integerCell(row, 'turns'),
    refused: integerCell(row, 'refused'),
    failed: integerCell(row, 'failed'),
    tokens_in: integerCell(row, 'tokens_in'),
    tokens_out: integerCell(row, 'tokens_out'),
    cost_micros: integerCell(row, 'cost_micros'),
    unpriced: integerCell(row, 'unpriced'),
  }));
}
