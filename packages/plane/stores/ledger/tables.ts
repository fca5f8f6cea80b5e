// The tables of what happened, as data. Each column says how a later event changes it, so that the
// fold in memory and the upsert of every engine merge in the same way.

/**
 * `first` keeps what came first; `last` takes what is not null; `min`, `max` and `sum` count on;
 * `or` gathers bits; `with x` comes and goes with the column x, because one event brings both.
 */
export type Merge = 'key' | 'first' | 'last' | 'min' | 'max' | 'sum' | 'or' | `with ${string}`;

export interface Table {
  readonly name: TableName;
  readonly columns: { readonly [column: string]: Merge };
}

export type TableName = 'runs' | 'tool_calls' | 'previews' | 'hints' | 'policy_versions';

/** Times are milliseconds since 1970; `*_json` is JSON text. */
export const RUNS = {
  name: 'runs',
  columns: {
    run_id: 'key',
    agent_id: 'last',
    client: 'last',
    env: 'last',
    principal: 'last',
    /** From run_start; null when it is not known. */
    started_at: 'min',
    ended_at: 'with status',
    status: 'last',
    mode: 'last',
    policy_id: 'with mode',
    policy_version: 'with mode',
    policy_hash: 'with mode',
    metadata_json: 'with mode',
    summary_json: 'with status',
    /** The earliest and the latest event of the run. */
    first_at: 'min',
    last_at: 'max',
    /** How many events made this row. */
    events: 'sum',
  },
} as const satisfies Table;

export const TOOL_CALLS = {
  name: 'tool_calls',
  columns: {
    /** The seq of the first event of the call. */
    id: 'first',
    run_id: 'key',
    call_id: 'key',
    agent_id: 'first',
    server_name: 'first',
    tool_name: 'first',
    args_hash: 'first',
    transport: 'last',
    call_seq: 'with transport',
    bytes_in: 'with transport',
    risk_json: 'last',
    decision: 'last',
    rule_id: 'with decision',
    severity: 'with decision',
    reason_code: 'with decision',
    summary: 'with decision',
    would_action: 'with decision',
    would_rule_id: 'with decision',
    args_content_json: 'with decision',
    status: 'last',
    latency_ms: 'with status',
    bytes_out: 'with status',
    error_class: 'with status',
    error_message: 'with status',
    result_content_json: 'with status',
    preview_truncated: 'or',
    created_at: 'min',
    events: 'sum',
  },
} as const satisfies Table;

export const PREVIEWS = {
  name: 'previews',
  columns: {
    id: 'key',
    call_id: 'first',
    args_preview: 'last',
    result_preview: 'last',
    redaction_flags: 'or',
  },
} as const satisfies Table;

export const HINTS = {
  name: 'hints',
  columns: {
    run_id: 'key',
    call_id: 'key',
    hint_text: 'last',
    suggested_args_json: 'with hint_text',
    retry_advice: 'with hint_text',
    hint_kind: 'with hint_text',
    created_at: 'min',
  },
} as const satisfies Table;

export const POLICY_VERSIONS = {
  name: 'policy_versions',
  columns: {
    policy_id: 'key',
    version: 'key',
    rules_hash: 'key',
    // The same hash means the same policy. Where events disagree all the same, the order in which
    // they came must not matter: pruning leaves out some of them.
    mode: 'min',
    rules_json: 'min',
    created_at: 'min',
  },
} as const satisfies Table;

export const TABLES = [RUNS, TOOL_CALLS, PREVIEWS, HINTS, POLICY_VERSIONS] as const;

/** The bits of `redaction_flags`. */
export const FLAGS = {
  argsTruncated: 1,
  resultTruncated: 2,
  argsDropped: 4,
  resultDropped: 8,
  argsPruned: 16,
  resultPruned: 32,
} as const;

export type Cell = string | number | null;
/** A row, or what an event adds to one; a column that is not there is null. */
export type Delta<T extends Table> = { [C in keyof T['columns']]?: Cell };
