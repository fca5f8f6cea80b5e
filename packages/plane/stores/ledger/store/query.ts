// What can be asked of a ledger.
import type { Action, CallStatus, CallSubject, Client } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import type { HINTS, POLICY_VERSIONS, RUNS, TableAnswer, TOOL_CALLS } from './tables.ts';

/** A name, or a glob for names. */
export type NamePattern = string | { readonly glob: string };

/** Where a file is named in the arguments of a call. */
export interface PathFilter {
  /** Absolute and normalised: the ways to write one file, or a folder with all below it. */
  readonly paths: readonly string[];
  /** Instead, these names one below the other stand anywhere in a path; `paths` has them with a `/` in front. */
  readonly isAnywhere?: true;
  /** What `~` stands for. */
  readonly home: string;
  /** Where relative names begin in a run whose repository is not known. */
  readonly folder: string;
}

/** An argument of a call, by its name or the names on the way to it, and a glob for its value. */
export interface ArgFilter {
  readonly name: string;
  readonly glob: string;
}

export interface CallFilter {
  readonly runId?: string;
  readonly agentId?: string;
  /** Tool calls or turns only; names of the one kind leave out the other. */
  readonly kind?: CallSubject['kind'];
  readonly serverName?: NamePattern;
  readonly toolName?: NamePattern;
  /** Who started the run. */
  readonly principal?: NamePattern;
  /** Of no run of these clients. */
  readonly clientsExcept?: readonly Client[];
  /** Who approved the call. */
  readonly approvedBy?: NamePattern;
  readonly provider?: string;
  readonly model?: string;
  /** `REFUSED` is every decision but ALLOW; `ASKED` needed a person, or waits for one. */
  readonly decision?: Action | 'REFUSED' | 'ASKED';
  /** `PENDING` has no end on record; `FAILED` is every status but OK. */
  readonly status?: CallStatus | 'PENDING' | 'FAILED';
  readonly ruleId?: string;
  readonly argsHash?: string;
  /** From this time on, and before that one. */
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly path?: PathFilter;
  /** All of them. */
  readonly args?: readonly ArgFilter[];
  /** Part of a name, a summary, an error or a preview; ASCII letters match in either case. */
  readonly text?: string;
}

export interface RunFilter {
  readonly agentId?: string;
  readonly principal?: NamePattern;
  readonly client?: string;
  /** `RUNNING` has no end on record. */
  readonly status?: 'SUCCEEDED' | 'FAILED' | 'TERMINATED' | 'CANCELLED' | 'LOST' | 'RUNNING';
  /** Only those that were decided or recorded by less than they should be. */
  readonly isDegraded?: true;
  readonly fromMs?: number;
  readonly toMs?: number;
}

export interface PageRequest {
  /** From 1 to 1,000; 50. */
  readonly limit?: number;
  /** What the page before gave as `next`. */
  readonly cursor?: string;
  /** Give calls with `args_preview`. */
  readonly withArgs?: boolean;
}

export interface Page<T> {
  /** Newest first. */
  readonly rows: readonly T[];
  /**
   * Ask again with it; null at the end. A search in texts or arguments looks at a bounded number of
   * calls at a time, so a page may be short, even empty, and still have a next one.
   */
  readonly next: string | null;
  /** Of a search in arguments: calls that may fit, but whose arguments are not all in the ledger. */
  readonly unseen?: number;
}

/** What a call is about stands in it as the union that contract A has. */
export type CallRow = OfCall<CallSubject>;
type OfCall<S> = S extends CallSubject ? TableAnswer<typeof TOOL_CALLS> & S & CallPeople : never;

interface CallPeople {
  /** Of its run. */
  readonly principal: string | null;
  readonly client: string | null;
  /** Each once. */
  readonly approved_by: readonly string[];
  /** Where the page was asked for with it. */
  readonly args_preview?: string | null;
}

export type CallHint = TableAnswer<typeof HINTS>;

export type CallDetail = CallRow & {
  readonly args_preview: string | null;
  readonly result_preview: string | null;
  readonly redaction_flags: number;
  readonly hint: CallHint | null;
};

export type RunRow = TableAnswer<typeof RUNS> & RunUsage & { readonly calls: CallCounts };

export interface RunUsage {
  readonly hints: number;
  /** They are among its calls, too. */
  readonly turns: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_micros: number;
}

export interface CallCounts {
  readonly total: number;
  readonly allowed: number;
  /** Every decision but ALLOW and THROTTLE. */
  readonly blocked: number;
  readonly throttled: number;
  readonly undecided: number;
  /** Allowed calls that did not end well; one whose answer a gate held back is none of them. */
  readonly errors: number;
}

export interface Stats {
  readonly calls: CallCounts;
  readonly runs: number;
  readonly events: number;
  readonly decisions: readonly CountRow<'decision'>[];
  readonly statuses: readonly CountRow<'status'>[];
  /** The most frequent first, at most 50. */
  readonly tools: readonly (CountRow<'server_name'> & { readonly tool_name: string })[];
  readonly rules: readonly CountRow<'rule_id'>[];
}

export interface LedgerSize {
  /** Of the file with its log. */
  readonly size_bytes: number;
  readonly pruned: number;
  readonly rejected: number;
  readonly runs: number;
  readonly calls: number;
  readonly oldest_ms: number | null;
  readonly newest_ms: number | null;
}

export interface HistogramRequest {
  /** Without it from the oldest call on. */
  readonly fromMs?: number | undefined;
  readonly toMs: number;
  /** How many parts at most. */
  readonly buckets: number;
}

/** Counts of calls in equal parts of a time, the oldest first. */
export interface CallHistogram {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly bucket_ms: number;
  readonly calls: readonly number[];
  readonly refused: readonly number[];
  readonly asked: readonly number[];
  /** All calls from then on were looked at. */
  readonly complete_from_ms: number;
}

export interface RunActivity {
  readonly run_id: string;
  readonly from_ms: number;
  readonly bucket_ms: number;
  readonly calls: readonly number[];
  readonly refused: readonly number[];
}

/** Turns, added up. */
export interface TurnTotalsQuery {
  readonly by: 'model' | 'provider' | 'agent' | 'run' | 'user' | 'repo' | 'rule';
  readonly fromMs?: number;
  readonly toMs?: number;
}

export interface TurnTotal {
  /** `provider/model`, the agent, the run, the principal or the folder of the repository; empty when it is not known. */
  readonly name: string;
  readonly turns: number;
  readonly refused: number;
  readonly failed: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_micros: number;
  /** Turns that used tokens whose price is not known. */
  readonly unpriced: number;
}

export interface TimeRange {
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** What one tool of a server was asked. */
export interface ServerUse {
  readonly server_name: string;
  readonly tool_name: string;
  readonly calls: number;
  readonly refused: number;
  /** Allowed calls that did not end well. */
  readonly errors: number;
  readonly last_call_at_ms: number;
}

export interface ServerSeriesQuery extends Required<TimeRange> {
  readonly serverName: string;
  readonly toolName?: string | undefined;
  readonly buckets: number;
}

export interface ServerSeries {
  readonly from_ms: number;
  readonly bucket_ms: number;
  readonly calls: readonly number[];
  readonly refused: readonly number[];
  readonly errors: readonly number[];
  /** Of allowed calls that have ended; null without one. */
  readonly p50_ms: readonly (number | null)[];
  readonly p95_ms: readonly (number | null)[];
}

export interface ServerNoticesQuery {
  readonly type: 'surface' | 'breaker_trip' | 'secret_injection';
  /** Only events whose text has one of them, where there are some. */
  readonly words: readonly string[];
  readonly fromMs: number;
  readonly limit: number;
}

export interface ServerNotice {
  readonly seq: number;
  readonly line: string;
}

export interface TurnCostsQuery extends TurnTotalsQuery {
  readonly fromMs: number;
  readonly toMs: number;
  /** How long each part of the time is. */
  readonly bucketMs: number;
  /** How many names; what is left is added up in one more row. */
  readonly rowsMax: number;
}

export type TurnSums = Omit<TurnTotal, 'name'>;

export interface TurnCosts {
  readonly total: TurnSums;
  /** The dearest first; the name is null for all that are not listed. */
  readonly rows: readonly (TurnSums & {
    readonly name: string | null;
    readonly turns_by_time: readonly number[];
    readonly cost_micros_by_time: readonly number[];
  })[];
}

type CountRow<Name extends string> = { readonly [N in Name]: string | null } & {
  readonly count: number;
};

export type PolicyVersion = TableAnswer<typeof POLICY_VERSIONS>;

/** Calls that a rule decided, and that it would have decided. */
export interface RuleHits {
  readonly rule_id: string;
  readonly hits: number;
  readonly would_hits: number;
  readonly last_hit_ms: number;
}

/** Where a page ends: the time and the id of its last row. */
export interface Position {
  readonly atMs: number;
  readonly id: string;
}

const LIMIT_MAX = 1_000;
const LIMIT_DEFAULT = 50;
const TEXT_LENGTH_MAX = 200;
const CURSOR_LENGTH_MAX = 100_000;

export function limitOf({ limit = LIMIT_DEFAULT }: PageRequest): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw ledgerFailure('SUB_LEDGER_QUERY', `The limit goes from 1 to ${LIMIT_MAX}.`);
}

export function cursorOf({ atMs, id }: Position): string {
  return Buffer.from(JSON.stringify([atMs, id]), 'utf8').toString('base64url');
}

/** The rows, with a cursor to the next page unless there are fewer than asked for. */
export function pageOf<T>(rows: readonly T[], limit: number, endOf: (row: T) => Position): Page<T> {
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { rows, next: last === undefined ? null : cursorOf(endOf(last)) };
}

export function positionOf({ cursor }: PageRequest): Position | undefined {
  if (cursor === undefined) return undefined;
  const isShort = cursor.length <= CURSOR_LENGTH_MAX;
  const value = isShort ? parseJson(Buffer.from(cursor, 'base64url').toString('utf8')) : undefined;
  const parts: readonly unknown[] = Array.isArray(value) ? value : [];
  const [atMs, id] = parts;
  if (Number.isSafeInteger(atMs) && typeof id === 'string') return { atMs: Number(atMs), id };
  throw ledgerFailure('SUB_LEDGER_QUERY', 'The cursor is not one that a page gave.');
}

/** The pattern that finds a text anywhere, with `\` before what a pattern would read as a sign. */
export function likePattern(text: string): string {
  if (text.length === 0 || text.length > TEXT_LENGTH_MAX) {
    throw ledgerFailure('SUB_LEDGER_QUERY', `A text has 1 to ${TEXT_LENGTH_MAX} characters.`);
  }
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
