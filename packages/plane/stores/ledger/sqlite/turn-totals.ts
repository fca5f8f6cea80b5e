// What turns have used and cost, added up.
import type {
  TurnCosts,
  TurnCostsQuery,
  TurnSums,
  TurnTotal,
  TurnTotalsQuery,
} from '../store/query.ts';
import type { Connection } from './connection.ts';
import type { SqlRow } from './load.ts';
import { integerCell, textCell } from './rows.ts';

const COLUMNS = {
  model: "provider || '/' || model",
  provider: 'provider',
  agent: 'tool_calls.agent_id',
  run: 'run_id',
  user: "COALESCE(runs.principal, '')",
  repo: "COALESCE(json_extract(runs.metadata_json, '$.workload.repo_path'), '')",
  rule: "COALESCE(rule_id, '')",
} as const;

const SUMS = `count(*) AS turns,
  count(*) FILTER (WHERE decision NOT IN ('ALLOW')) AS refused,
  count(*) FILTER (WHERE decision = 'ALLOW' AND tool_calls.status <> 'OK') AS failed,
  COALESCE(sum(tokens_in), 0) AS tokens_in, COALESCE(sum(tokens_out), 0) AS tokens_out,
  COALESCE(sum(cost_micros), 0) AS cost_micros,
  count(*) FILTER (WHERE tokens_in IS NOT NULL AND cost_micros IS NULL) AS unpriced`;
const TURNS = `FROM tool_calls INDEXED BY calls_model LEFT JOIN runs USING (run_id)
  WHERE kind = 'turn' AND created_at >= ? AND created_at < ?`;
const BUCKET = '(created_at - CAST(? AS INTEGER)) / CAST(? AS INTEGER) AS bucket';

/** More are left out, the cheapest first. */
const TOTALS_MAX = 1_000;

/** The dearest first. */
export function turnTotals(
  connection: Connection,
  { by, fromMs = 0, toMs = Number.MAX_SAFE_INTEGER }: TurnTotalsQuery,
  rowsMax = TOTALS_MAX,
): readonly TurnTotal[] {
  const sql = `SELECT ${COLUMNS[by]} AS name, ${SUMS} ${TURNS}
    GROUP BY name ORDER BY cost_micros DESC, turns DESC, name LIMIT ?`;
  const rows = connection.all(sql, fromMs, toMs, rowsMax);
  return rows.map((row) => ({ name: textCell(row, 'name'), ...sumsOf(row) }));
}

/** The dearest names, each over time. */
export function turnCosts(connection: Connection, query: TurnCostsQuery): TurnCosts {
  const { by, fromMs, toMs, bucketMs, rowsMax } = query;
  const total = sumsOf(connection.one(`SELECT ${SUMS} ${TURNS}`, fromMs, toMs));
  const named = turnTotals(connection, query, rowsMax);
  const buckets = Math.ceil((toMs - fromMs) / bucketMs);
  const series = () => ({ turns: zeros(buckets), cost: zeros(buckets) });
  const byName = new Map(named.map(({ name }) => [name, series()]));
  const others = series();
  const sql = `SELECT ${COLUMNS[by]} AS name, ${BUCKET}, count(*) AS turns,
      COALESCE(sum(cost_micros), 0) AS cost_micros ${TURNS} GROUP BY name, bucket`;
  for (const row of connection.all(sql, fromMs, bucketMs, fromMs, toMs)) {
    const { turns, cost } = byName.get(textCell(row, 'name')) ?? others;
    const at = integerCell(row, 'bucket');
    turns[at] = (turns[at] ?? 0) + integerCell(row, 'turns');
    cost[at] = (cost[at] ?? 0) + integerCell(row, 'cost_micros');
  }
  const rest = named.reduce<TurnSums>(minus, total);
  const rows = named.map((one) => ({ ...one, ...timesOf(byName.get(one.name) ?? others) }));
  return {
    total,
    rows: rest.turns === 0 ? rows : [...rows, { name: null, ...rest, ...timesOf(others) }],
  };
}

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

function timesOf({ turns, cost }: { readonly turns: number[]; readonly cost: number[] }) {
  return { turns_by_time: turns, cost_micros_by_time: cost };
}

function minus(from: TurnSums, what: TurnSums): TurnSums {
  return {
    turns: from.turns - what.turns,
    refused: from.refused - what.refused,
    failed: from.failed - what.failed,
    tokens_in: from.tokens_in - what.tokens_in,
    tokens_out: from.tokens_out - what.tokens_out,
    cost_micros: from.cost_micros - what.cost_micros,
    unpriced: from.unpriced - what.unpriced,
  };
}

function sumsOf(row: SqlRow): TurnSums {
  return {
    turns: integerCell(row, 'turns'),
    refused: integerCell(row, 'refused'),
    failed: integerCell(row, 'failed'),
    tokens_in: integerCell(row, 'tokens_in'),
    tokens_out: integerCell(row, 'tokens_out'),
    cost_micros: integerCell(row, 'cost_micros'),
    unpriced: integerCell(row, 'unpriced'),
  };
}
