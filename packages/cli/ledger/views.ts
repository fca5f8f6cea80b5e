// The columns that `sub query` shows of calls and of runs.
import { subjectNames } from '@subluminal/contracts';
import type { CallRow, RunRow } from '@subluminal/plane/ledger';
import type { Colors } from '../terminal/io.ts';
import type { Cell, Column } from '../terminal/table.ts';

export interface View<R> {
  readonly name: string;
  readonly columns: readonly (string | Column)[];
  readonly cells: (row: R) => readonly Cell[];
  readonly paint: (line: string, row: R, colors: Colors) => string;
  /** Every column of the CSV form, in order. */
  readonly csv: { readonly [name: string]: (row: R) => Cell };
}

function timeText(ms: number | null): string {
  return ms === null ? '' : new Date(ms).toISOString();
}

type CellName<R> = { [K in keyof R]: R[K] extends Cell ? K : never }[keyof R] & string;

/** Columns of the CSV form that are as in the row. */
function csvColumns<R>(...names: readonly CellName<R>[]): { [name: string]: (row: R) => Cell } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `CellName` names cells only.
  return Object.fromEntries(names.map((name) => [name, (row: R) => row[name] as Cell]));
}

function isRefused({ decision }: CallRow): boolean {
  return decision !== null && decision !== 'ALLOW';
}

export const CALL_VIEW: View<CallRow> = {
  name: 'calls',
  columns: [
    'TIME',
    'DECISION',
    { title: 'STATUS', dropped: 2 },
    { title: 'MS', right: true, dropped: 5 },
    { title: 'SERVER', widthMin: 8 },
    { title: 'TOOL', widthMin: 12 },
    { title: 'RULE', widthMin: 8, dropped: 1 },
    { title: 'REASON', widthMin: 8, dropped: 3 },
    { title: 'RUN', dropped: 4 },
  ],
  cells: (row) => [
    timeText(row.created_at_ms),
    // A call that passed only because of observe mode or development is marked.
    row.would_action === null || row.would_action === row.decision
      ? row.decision
      : `${row.decision ?? ''} (${row.would_action})`,
    // For its agent a refusal is an error, but not one of the server, which never got the call.
    isRefused(row) ? 'REFUSED' : (row.status ?? 'PENDING'),
    row.latency_ms,
    ...subjectNames(row),
    row.rule_id ?? row.would_rule_id,
    row.reason_code,
    row.run_id,
  ],
  paint: (line, row, colors) => {
    if (isRefused(row)) return colors.red(line);
    return row.status !== null && row.status !== 'OK' ? colors.yellow(line) : line;
  },
  csv: {
    time: (row) => timeText(row.created_at_ms),
    run_id: (row) => row.run_id,
    call_id: (row) => row.call_id,
    agent_id: (row) => row.agent_id,
    server_name: (row) => (row.kind === 'turn' ? null : row.server_name),
    tool_name: (row) => (row.kind === 'turn' ? null : row.tool_name),
    args_hash: (row) => (row.kind === 'turn' ? null : row.args_hash),
    ...csvColumns<CallRow>(
      'decision',
      'would_action',
      'rule_id',
      'reason_code',
      'summary',
      'status',
    ),
    ...csvColumns<CallRow>('latency_ms', 'bytes_in', 'bytes_out', 'error_class', 'error_message'),
    kind: (row) => row.kind,
    provider: (row) => (row.kind === 'turn' ? row.provider : null),
    model: (row) => (row.kind === 'turn' ? row.model : null),
    ...csvColumns<CallRow>('tokens_in', 'tokens_out', 'cost_micros'),
  },
};

export const RUN_VIEW: View<RunRow> = {
  name: 'runs',
  columns: [
    'STARTED',
    'RUN',
    { title: 'AGENT', widthMin: 8, dropped: 1 },
    'STATUS',
    { title: 'CALLS', right: true },
    { title: 'REFUSED', right: true },
    { title: 'ERRORS', right: true },
    { title: 'POLICY', widthMin: 8, dropped: 2 },
  ],
  cells: (row) => [
    timeText(row.started_at_ms ?? row.first_at_ms),
    row.run_id,
    row.agent_id,
    row.status ?? 'RUNNING',
    row.calls.total,
    row.calls.blocked + row.calls.throttled,
    row.calls.errors,
    row.policy_id === null ? null : `${row.policy_id} ${row.policy_version ?? ''}`,
  ],
  paint: (line, row, colors) => {
    if (row.status === 'FAILED' || row.status === 'TERMINATED') return colors.red(line);
    return row.calls.blocked + row.calls.throttled > 0 ? colors.yellow(line) : line;
  },
  csv: {
    started_at: (row) => timeText(row.started_at_ms ?? row.first_at_ms),
    ended_at: (row) => timeText(row.ended_at_ms),
    ...csvColumns<RunRow>('run_id', 'agent_id', 'client', 'env', 'principal', 'status', 'mode'),
    ...csvColumns<RunRow>('policy_id', 'policy_version', 'policy_hash'),
    calls: (row) => row.calls.total,
    allowed: (row) => row.calls.allowed,
    blocked: (row) => row.calls.blocked,
    throttled: (row) => row.calls.throttled,
    errors: (row) => row.calls.errors,
  },
};
