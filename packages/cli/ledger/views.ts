// The columns that `sub query` shows of calls and of runs.
import { type Action, isUuid, subjectNames } from '@subluminal/contracts';
import { shortId } from '@subluminal/plane/approvals';
import type { CallRow, ListedCall, RunRow } from '@subluminal/plane/ledger';
import { decisionMark, decisionPaint } from '../terminal/decision-look.ts';
import type { Colors } from '../terminal/io.ts';
import type { Cell, Column } from '../terminal/table.ts';
import { localIso } from '../terminal/text.ts';
import { usageText } from './turn-text.ts';

export interface View<R> {
  readonly name: string;
  readonly columns: readonly (string | Column)[];
  /** Short times, words and ids where the table has to fit a terminal. */
  readonly cells: (row: R, isFitted: boolean) => readonly Cell[];
  readonly paint: (line: string, row: R, colors: Colors) => string;
  /** Every column of the CSV form, in order. */
  readonly csv: { readonly [name: string]: (row: R) => Cell };
}

function timeText(ms: number | null): string {
  return ms === null ? '' : new Date(ms).toISOString();
}

/** To the second; JSON and CSV have the rest. */
export function secondsText(ms: number): string {
  return `${timeText(ms).slice(0, 19)}Z`;
}

/** The local time without the year: `01-31 12:01:15`. */
function shortTime(ms: number): string {
  return localIso(new Date(ms)).slice(5, 19).replace('T', ' ');
}

/** Decisions where there is little room. */
export const ACTION_WORDS: { readonly [A in Action]: string } = {
  ALLOW: 'ALLOW',
  BLOCK: 'BLOCK',
  THROTTLE: 'THROTTLE',
  REJECT_WITH_HINT: 'HINT',
  TERMINATE_RUN: 'TERMINATE',
};
const SHORT_WORDS = new Map(Object.entries(ACTION_WORDS));

type CellName<R> = { [K in keyof R]: R[K] extends Cell ? K : never }[keyof R] & string;

/** Columns of the CSV form that are as in the row. */
function csvColumns<R>(...names: readonly CellName<R>[]): { [name: string]: (row: R) => Cell } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `CellName` names cells only.
  return Object.fromEntries(names.map((name) => [name, (row: R) => row[name] as Cell]));
}

function isRefused({ decision }: CallRow): boolean {
  return decision !== null && decision !== 'ALLOW';
}

const NOT_KEPT = '(not kept)';

/** The end of a UUID, which is random; ids that other programs chose stay whole. */
export function shownId(id: string): string {
  return isUuid(id) ? shortId(id) : id;
}

/** A column of calls, and its cell. */
type CallColumn = readonly [column: Column, cell: (row: ListedCall, isFitted: boolean) => Cell];

const CALL_COLUMNS: readonly CallColumn[] = [
  [
    { title: 'TIME', dropped: 3, leftOutLast: true },
    ({ created_at_ms: ms }, isFitted) => (isFitted ? shortTime(ms) : secondsText(ms)),
  ],
  [
    { title: 'WHO', widthMin: 8, widthGood: 16, dropped: 1, leftOutLast: true },
    (row) => row.principal,
  ],
  [{ title: 'CLIENT', widthMin: 6, widthGood: 12, dropped: 7 }, (row) => row.client],
  [{ title: 'DECISION' }, decisionText],
  // For its agent a refusal is an error, but not one of the server, which never got the call.
  [
    { title: 'STATUS', dropped: 8 },
    (row) => (isRefused(row) ? 'REFUSED' : (row.status ?? 'PENDING')),
  ],
  [{ title: 'MS', right: true, dropped: 10 }, (row) => row.latency_ms],
  [{ title: 'SERVER', widthMin: 6, widthGood: 12, dropped: 5 }, (row) => subjectNames(row)[0]],
  [{ title: 'TOOL', widthMin: 8, widthGood: 20 }, (row) => subjectNames(row)[1]],
];
const ARGUMENT: CallColumn = [
  { title: 'ARGUMENT', widthMin: 12, widthGood: 32, showsEnd: true },
  (row) => (row.kind === 'turn' ? usageText(row) : (row.argument ?? unreadText(row))),
];
const ARGUMENTS: CallColumn = [
  { title: 'ARGUMENTS', widthMin: 12, widthGood: 40 },
  (row) => (row.kind === 'turn' ? null : (row.args_preview ?? NOT_KEPT)),
];
const LAST_COLUMNS: readonly CallColumn[] = [
  [
    { title: 'RULE', widthMin: 8, widthGood: 20, dropped: 4 },
    (row) => row.rule_id ?? row.would_rule_id,
  ],
  [{ title: 'REASON', widthMin: 8, widthGood: 20, dropped: 9 }, (row) => row.reason_code],
  [{ title: 'CALL', dropped: 2, leftOutLast: true }, (row) => shownId(row.call_id)],
  [{ title: 'RUN', dropped: 11 }, ({ run_id }, isFitted) => (isFitted ? shownId(run_id) : run_id)],
];
const APPROVED_BY: CallColumn = [
  { title: 'APPROVED BY', widthMin: 8, widthGood: 12, dropped: 6 },
  (row) => row.approved_by.join(', '),
];

/** A call without arguments has nothing to show; one whose arguments are not kept may have. */
function unreadText({ preview_truncated }: ListedCall): Cell {
  return preview_truncated ? NOT_KEPT : null;
}

/** A call that passed only because of observe mode or development is marked. */
function decisionText({ decision, would_action }: ListedCall, isFitted: boolean): Cell {
  const wordOf = (action: string) => (isFitted && SHORT_WORDS.get(action)) || action;
  const mark = isFitted && decision !== null ? `${decisionMark(decision)} ` : '';
  if (would_action === null || would_action === decision) {
    return decision === null ? null : mark + wordOf(decision);
  }
  return `${mark}${wordOf(decision ?? '')} (${wordOf(would_action)})`;
}

export function callView(rows: readonly ListedCall[], allArgs: boolean): View<ListedCall> {
  const columns = [
    ...CALL_COLUMNS,
    ...(allArgs ? [] : [ARGUMENT]),
    ...(rows.some(({ approved_by }) => approved_by.length > 0) ? [APPROVED_BY] : []),
    ...LAST_COLUMNS,
    ...(allArgs ? [ARGUMENTS] : []),
  ];
  return {
    ...CALL_VIEW,
    columns: columns.map(([column]) => column),
    cells: (row, isFitted) => columns.map(([, cell]) => cell(row, isFitted)),
    csv: allArgs
      ? { ...CALL_VIEW.csv, args_preview: (row) => row.args_preview ?? null }
      : CALL_VIEW.csv,
  };
}

const CALL_VIEW: Pick<View<ListedCall>, 'name' | 'paint' | 'csv'> = {
  name: 'calls',
  paint: (line, row, colors) => {
    const { decision } = row;
    if (decision !== null && decision !== 'ALLOW') return decisionPaint(decision, colors)(line);
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
    ...csvColumns<CallRow>('tokens_in', 'tokens_out', 'cost_micros', 'principal', 'client'),
    approved_by: (row) => row.approved_by.join(', '),
    argument: (row) => row.argument,
  },
};

const RUN_VIEW: View<RunRow> = {
  name: 'runs',
  columns: [
    { title: 'STARTED', dropped: 1, leftOutLast: true },
    { title: 'RUN', widthMin: 8, widthGood: 20, showsEnd: true },
    { title: 'WHO', widthMin: 8, widthGood: 16, dropped: 2, leftOutLast: true },
    { title: 'AGENT', widthMin: 8, widthGood: 16, dropped: 3 },
    'STATUS',
    { title: 'CALLS', right: true },
    { title: 'REFUSED', right: true },
    { title: 'ERRORS', right: true },
    { title: 'POLICY', widthMin: 8, widthGood: 20, dropped: 4 },
  ],
  cells: (row, isFitted) => [
    (isFitted ? shortTime : timeText)(row.started_at_ms ?? row.first_at_ms),
    isFitted ? shownId(row.run_id) : row.run_id,
    row.principal,
    row.agent_id,
    row.status ?? 'RUNNING',
    row.calls.total,
    row.calls.blocked + row.calls.throttled,
    row.calls.errors,
    row.policy_id === null ? null : `${row.policy_id} ${row.policy_version ?? ''}`,
  ],
  paint: (line, row, colors) => {
    if (row.status === 'FAILED' || row.status === 'TERMINATED') return colors.red(line);
    const isNoted = row.calls.blocked + row.calls.throttled > 0 || row.degraded_reason !== null;
    return isNoted ? colors.yellow(line) : line;
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
    degraded_reason: (row) => row.degraded_reason,
  },
};

/** Runs that were decided or recorded by less than they should be say so, where there are some. */
export function runView(rows: readonly RunRow[]): View<RunRow> {
  if (rows.every(({ degraded_reason }) => degraded_reason === null)) return RUN_VIEW;
  return {
    ...RUN_VIEW,
    columns: [...RUN_VIEW.columns, { title: 'WARNING', widthMin: 12, widthGood: 40 }],
    cells: (row, isFitted) => [...RUN_VIEW.cells(row, isFitted), row.degraded_reason],
  };
}
