// The tables of what happened, as data: the one definition of a column. From it come its SQL (since
// step 3 of the schema), how a later event changes it, and how it is read back.
import type { ContentOutcome } from '@subluminal/contracts';

/**
 * `first` keeps what came first; `last` takes what is not null; `min`, `max` and `sum` count on;
 * `or` gathers bits; `with x` comes and goes with the column x, because one event brings both.
 */
export type Merge = 'key' | 'first' | 'last' | 'min' | 'max' | 'sum' | 'or' | `with ${string}`;

/** What a cell is read as; `classes` and `content` are JSON in the database. */
interface CellTypes {
  readonly text: string;
  readonly integer: number;
  readonly flag: boolean;
  readonly classes: readonly string[];
  readonly content: Pick<ContentOutcome, 'findings'> & { readonly action: string };
}

export interface Column {
  readonly merge: Merge;
  readonly kind: keyof CellTypes;
  readonly orNull?: true;
  /** Its name in answers, when that is another one; null when it is not answered. */
  readonly as?: string | null;
  /** The step of the schema that adds it, from 3 on; earlier ones are spelled out in schema.ts. */
  readonly since?: number;
  /** The value in rows that are older than the column; with it, the column is never null. */
  readonly fallback?: string;
}

export interface Table {
  readonly name: TableName;
  readonly columns: { readonly [column: string]: Column };
}

export type TableName =
  | 'runs'
  | 'tool_calls'
  | 'previews'
  | 'hints'
  | 'approvals'
  | 'policy_versions';

/** Times are milliseconds since 1970. */
export const RUNS = {
  name: 'runs',
  columns: {
    run_id: { merge: 'key', kind: 'text' },
    agent_id: { merge: 'last', kind: 'text', orNull: true },
    client: { merge: 'last', kind: 'text', orNull: true },
    env: { merge: 'last', kind: 'text', orNull: true },
    principal: { merge: 'last', kind: 'text', orNull: true },
    /** From run_start; null when it is not known. */
    started_at: { merge: 'min', kind: 'integer', orNull: true, as: 'started_at_ms' },
    ended_at: { merge: 'with status', kind: 'integer', orNull: true, as: 'ended_at_ms' },
    status: { merge: 'last', kind: 'text', orNull: true },
    mode: { merge: 'last', kind: 'text', orNull: true },
    policy_id: { merge: 'with mode', kind: 'text', orNull: true },
    policy_version: { merge: 'with mode', kind: 'text', orNull: true },
    policy_hash: { merge: 'with mode', kind: 'text', orNull: true },
    metadata_json: { merge: 'with mode', kind: 'text', orNull: true },
    summary_json: { merge: 'with status', kind: 'text', orNull: true },
    /** The earliest and the latest event of the run. */
    first_at: { merge: 'min', kind: 'integer', as: 'first_at_ms' },
    last_at: { merge: 'max', kind: 'integer', as: 'last_at_ms' },
    /** How many events made this row. */
    events: { merge: 'sum', kind: 'integer', as: null },
    /** Why it was last decided or recorded by less than it should be, such as tools that reached no hook. */
    degraded_reason: { merge: 'last', kind: 'text', orNull: true, since: 5 },
  },
} as const satisfies Table;

/** Calls of tools and, in spite of its name, turns; `kind` tells which. */
export const TOOL_CALLS = {
  name: 'tool_calls',
  columns: {
    /** The seq of the first event of the call. */
    id: { merge: 'first', kind: 'integer' },
    run_id: { merge: 'key', kind: 'text' },
    call_id: { merge: 'key', kind: 'text' },
    agent_id: { merge: 'first', kind: 'text' },
    // The subject of a call is answered as a union: of a turn, these three are empty …
    server_name: { merge: 'first', kind: 'text', as: null },
    tool_name: { merge: 'first', kind: 'text', as: null },
    args_hash: { merge: 'first', kind: 'text', as: null },
    transport: { merge: 'last', kind: 'text', orNull: true },
    call_seq: { merge: 'with transport', kind: 'integer', orNull: true },
    bytes_in: { merge: 'with transport', kind: 'integer', orNull: true },
    risk_json: { merge: 'last', kind: 'classes', as: 'risk_class' },
    decision: { merge: 'last', kind: 'text', orNull: true },
    rule_id: { merge: 'with decision', kind: 'text', orNull: true },
    severity: { merge: 'with decision', kind: 'text', orNull: true },
    reason_code: { merge: 'with decision', kind: 'text', orNull: true },
    summary: { merge: 'with decision', kind: 'text', orNull: true },
    would_action: { merge: 'with decision', kind: 'text', orNull: true },
    would_rule_id: { merge: 'with decision', kind: 'text', orNull: true },
    args_content_json: { merge: 'with decision', kind: 'content', as: 'args_content' },
    status: { merge: 'last', kind: 'text', orNull: true },
    latency_ms: { merge: 'with status', kind: 'integer', orNull: true },
    bytes_out: { merge: 'with status', kind: 'integer', orNull: true },
    error_class: { merge: 'with status', kind: 'text', orNull: true },
    error_message: { merge: 'with status', kind: 'text', orNull: true },
    result_content_json: { merge: 'with status', kind: 'content', as: 'result_content' },
    preview_truncated: { merge: 'or', kind: 'flag' },
    created_at: { merge: 'min', kind: 'integer', as: 'created_at_ms' },
    events: { merge: 'sum', kind: 'integer', as: null },
    // … and of a tool call, these are null.
    kind: { merge: 'first', kind: 'text', as: null, since: 3, fallback: 'tool_call' },
    provider: { merge: 'first', kind: 'text', orNull: true, as: null, since: 3 },
    model: { merge: 'first', kind: 'text', orNull: true, as: null, since: 3 },
    tokens_in: { merge: 'with status', kind: 'integer', orNull: true, since: 3 },
    tokens_out: { merge: 'with status', kind: 'integer', orNull: true, since: 3 },
    cost_micros: { merge: 'with status', kind: 'integer', orNull: true, since: 3 },
  },
} as const satisfies Table;

export const PREVIEWS = {
  name: 'previews',
  columns: {
    id: { merge: 'key', kind: 'integer' },
    /** The events whose lines have them. */
    args_seq: { merge: 'last', kind: 'integer', orNull: true },
    result_seq: { merge: 'last', kind: 'integer', orNull: true },
    redaction_flags: { merge: 'or', kind: 'integer' },
  },
} as const satisfies Table;

export const HINTS = {
  name: 'hints',
  columns: {
    run_id: { merge: 'key', kind: 'text', as: null },
    call_id: { merge: 'key', kind: 'text', as: null },
    hint_text: { merge: 'last', kind: 'text' },
    suggested_args_json: { merge: 'with hint_text', kind: 'text', orNull: true },
    retry_advice: { merge: 'with hint_text', kind: 'text', orNull: true },
    hint_kind: { merge: 'with hint_text', kind: 'text', orNull: true },
    created_at: { merge: 'min', kind: 'integer', as: 'created_at_ms' },
  },
} as const satisfies Table;

/** How each request to a person about a call ended; a call may need more than one. */
export const APPROVALS = {
  name: 'approvals',
  columns: {
    run_id: { merge: 'key', kind: 'text' },
    call_id: { merge: 'key', kind: 'text' },
    rule_id: { merge: 'key', kind: 'text' },
    state: { merge: 'last', kind: 'text' },
    decided_by: { merge: 'with state', kind: 'text', orNull: true },
  },
} as const satisfies Table;

export const POLICY_VERSIONS = {
  name: 'policy_versions',
  columns: {
    policy_id: { merge: 'key', kind: 'text' },
    version: { merge: 'key', kind: 'text' },
    rules_hash: { merge: 'key', kind: 'text' },
    // The same hash means the same policy. Where events disagree all the same, the order in which
    // they came must not matter: pruning leaves out some of them.
    mode: { merge: 'min', kind: 'text', orNull: true },
    rules_json: { merge: 'min', kind: 'text', orNull: true },
    created_at: { merge: 'min', kind: 'integer', as: 'created_at_ms' },
  },
} as const satisfies Table;

export const TABLES: readonly Table[] = [
  RUNS,
  TOOL_CALLS,
  PREVIEWS,
  HINTS,
  APPROVALS,
  POLICY_VERSIONS,
];

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
export type Delta<T extends Table> = { -readonly [C in keyof T['columns']]?: Cell };

type AnswerName<K, C> = C extends { readonly as: infer A } ? (A extends string ? A : never) : K;
type AnswerValue<C extends Column> =
  | CellTypes[C['kind']]
  | (C extends { readonly orNull: true } ? null : never)
  | (C['kind'] extends 'content' ? undefined : never);

/** A row of a table as it is answered. */
export type TableAnswer<T extends Table> = {
  readonly [K in keyof T['columns'] as AnswerName<K, T['columns'][K]> & string]: AnswerValue<
    T['columns'][K]
  >;
};
