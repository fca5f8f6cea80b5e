// Calls by time: of all that fit a filter, and of single runs.
import { ledgerFailure } from '../chain/ledger-failure.ts';
import type {
  CallFilter,
  CallHistogram,
  HistogramRequest,
  Position,
  RunActivity,
} from '../store/query.ts';
import { decided } from './call-conditions.ts';
import type { Connection } from './connection.ts';
import { integerCell, integerOrNull, where } from './rows.ts';
import type { Search } from './scan-calls.ts';
import { byId, searchFor, searchTexts } from './search.ts';

const BUCKETS_MAX = 1_000;
/** What is bound comes as a floating-point number. */
const BUCKET = '(c.created_at - CAST(? AS INTEGER)) / CAST(? AS INTEGER) AS bucket';

interface Buckets {
  readonly fromMs: number;
  readonly bucketMs: number;
  readonly count: number;
}

type Decided = 'REFUSED' | 'ASKED' | undefined;

/** Each series is counted by the index that fits it best. */
export async function callHistogram(
  connection: Connection,
  filter: CallFilter,
  { toMs, buckets: wanted, ...request }: HistogramRequest,
): Promise<CallHistogram> {
  const fromMs = request.fromMs ?? oldestCall(connection, toMs);
  const buckets = bucketsOf(fromMs, toMs, wanted);
  const ranged = { ...filter, fromMs, toMs };
  const { searchBy, end } = await fitting(connection, ranged);
  const count = (decision: Decided) => countsBy(connection, searchBy(decision), buckets);
  return {
    from_ms: fromMs,
    to_ms: toMs,
    bucket_ms: buckets.bucketMs,
    calls: count(undefined),
    refused: count('REFUSED'),
    asked: count('ASKED'),
    complete_from_ms: end === undefined ? fromMs : end.atMs + 1,
  };
}

function oldestCall(connection: Connection, toMs: number): number {
  const row = connection.one('SELECT min(created_at) AS oldest FROM tool_calls');
  return Math.min(integerOrNull(row, 'oldest') ?? toMs - 1, toMs - 1);
}

function bucketsOf(fromMs: number, toMs: number, wanted: number): Buckets {
  if (toMs <= fromMs) throw ledgerFailure('SUB_LEDGER_QUERY', 'The end is not after the start.');
  if (wanted < 1 || wanted > BUCKETS_MAX) {
    throw ledgerFailure('SUB_LEDGER_QUERY', `There are 1 to ${BUCKETS_MAX} parts.`);
  }
  const bucketMs = Math.max(1, Math.ceil((toMs - fromMs) / wanted));
  return { fromMs, bucketMs, count: Math.ceil((toMs - fromMs) / bucketMs) };
}

/** What finds the calls, by what was decided about them; a search in texts or arguments ends somewhere. */
async function fitting(
  connection: Connection,
  filter: CallFilter,
): Promise<{
  readonly searchBy: (decision: Decided) => Search;
  readonly end: Position | undefined;
}> {
  const { text, path, args } = filter;
  if (text === undefined && path === undefined && args === undefined) {
    const searchBy = (decision: Decided) =>
      decision === undefined || filter.decision !== undefined
        ? narrowed(searchFor(connection, filter), decision)
        : searchFor(connection, { ...filter, decision });
    return { searchBy, end: undefined };
  }
  const asked = { filter, limit: Number.POSITIVE_INFINITY };
  const { ids, next } = await searchTexts(connection, searchFor(connection, filter), asked);
  return { searchBy: (decision) => narrowed(byId(ids), decision), end: next };
}

function narrowed({ access, conditions }: Search, decision: Decided): Search {
  return { access, conditions: [...conditions, ...decided(decision)] };
}

function countsBy(connection: Connection, search: Search, buckets: Buckets): number[] {
  const { sql: matching, values } = where(search.conditions);
  const sql = `SELECT ${BUCKET}, count(*) AS calls FROM tool_calls c ${search.access}
    LEFT JOIN previews p ON p.id = c.id WHERE ${matching} GROUP BY bucket`;
  const { fromMs, bucketMs, count } = buckets;
  const counts = Array.from({ length: count }, () => 0);
  for (const row of connection.all(sql, fromMs, bucketMs, ...values)) {
    counts[integerCell(row, 'bucket')] = integerCell(row, 'calls');
  }
  return counts;
}

/** The calls of each run from its first to its last event; runs that are not known are left out. */
export function runActivity(
  connection: Connection,
  runIds: readonly string[],
  parts: number,
): readonly RunActivity[] {
  // The same one a hundred times would be counted a hundred times.
  return [...new Set(runIds)].flatMap((run_id) => {
    const run = connection.get('SELECT first_at, last_at FROM runs WHERE run_id = ?', run_id);
    if (run === undefined) return [];
    const from_ms = integerCell(run, 'first_at');
    const bucket_ms = Math.max(1, Math.ceil((integerCell(run, 'last_at') + 1 - from_ms) / parts));
    const sql = `SELECT ${BUCKET}, count(*) AS calls,
        count(*) FILTER (WHERE c.decision <> 'ALLOW') AS refused
      FROM tool_calls c INDEXED BY calls_run WHERE c.run_id = ? GROUP BY bucket`;
    const calls = Array.from({ length: parts }, () => 0);
    const refused = Array.from({ length: parts }, () => 0);
    for (const row of connection.all(sql, from_ms, bucket_ms, run_id)) {
      // A call may come with a time outside of its run.
      const at = Math.min(parts - 1, Math.max(0, integerCell(row, 'bucket')));
      calls[at] = (calls[at] ?? 0) + integerCell(row, 'calls');
      refused[at] = (refused[at] ?? 0) + integerCell(row, 'refused');
    }
    return [{ run_id, from_ms, bucket_ms, calls, refused }];
  });
}
