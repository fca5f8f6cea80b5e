// Sums of costs: whole days from the daily sums, the rest of a day from the events.
import type { CostBucket, CostDimension } from '@subluminal/contracts';
import { type RawBuilder, sql } from 'kysely';
import { DAY_MS } from '../record-columns.ts';
import type { StoreQueries } from '../tables.ts';
import type { CostQuery, CostRow, CostSum } from '../types.ts';

const DIMENSION_COLUMNS = {
  team: 'teamId',
  user: 'userId',
  repo: 'repoId',
  model: 'model',
  provider: 'provider',
  task_type: 'taskType',
  policy_rule: 'ruleId',
} as const satisfies Record<CostDimension, keyof CostRow>;

/** Where sums are read from: both have the same columns for what is asked. */
interface SumSource {
  readonly table: 'cost_daily' | 'cost_event';
  readonly time: RawBuilder<unknown>;
  /** The day that a row counts for, or the hour, since 1970. */
  readonly unit: RawBuilder<unknown>;
  readonly requests: RawBuilder<unknown>;
  readonly failed: RawBuilder<unknown>;
}

const DAILY: SumSource = {
  table: 'cost_daily',
  time: sql.ref('day'),
  unit: sql.ref('day'),
  requests: sql`sum(requests)`,
  failed: sql`sum(failed)`,
};
const HOUR_MS = 3_600_000;
const EVENTS: SumSource = {
  table: 'cost_event',
  time: sql.ref('eventMs'),
  unit: sql`event_ms / ${sql.lit(DAY_MS)}`,
  requests: sql`count(*)`,
  failed: sql`sum(case when is_success then 0 else 1 end)`,
};
const HOURS: SumSource = { ...EVENTS, unit: sql`event_ms / ${sql.lit(HOUR_MS)}` };

export async function sumCosts(db: StoreQueries, query: CostQuery): Promise<readonly CostSum[]> {
  const { fromMs, toMs, every } = query;
  if (every === 'hour') {
    const hours = await readSums(db, query, { source: HOURS, from: fromMs, to: toMs });
    return inBuckets(hours, every);
  }
  const firstDay = Math.ceil(fromMs / DAY_MS);
  const endDay = Math.floor(toMs / DAY_MS);
  const parts =
    firstDay < endDay
      ? await Promise.all([
          readSums(db, query, { source: DAILY, from: firstDay, to: endDay }),
          readSums(db, query, { source: EVENTS, from: fromMs, to: firstDay * DAY_MS }),
          readSums(db, query, { source: EVENTS, from: endDay * DAY_MS, to: toMs }),
        ])
      : [await readSums(db, query, { source: EVENTS, from: fromMs, to: toMs })];
  return inBuckets(parts.flat(), every);
}

interface Span {
  readonly source: SumSource;
  readonly from: number;
  readonly to: number;
}

interface UnitSum extends Omit<CostSum, 'bucket'> {
  readonly unit: number;
}

async function readSums(
  db: StoreQueries,
  query: CostQuery,
  span: Span,
): Promise<readonly UnitSum[]> {
  const { source, from, to } = span;
  if (from >= to) return [];
  const { tenantId, teamId, userId, repoId, by, every } = query;
  const wanted = Object.entries({ teamId, userId, repoId });
  const filters = wanted.flatMap(([column, value]) =>
    value === undefined ? [] : [sql`and ${sql.ref(column)} = ${value}`],
  );
  const total = (sum: RawBuilder<unknown>) => sql`cast(${sum} as bigint)`;
  const { rows } = await sql<UnitSum>`
    select ${every === null ? sql.lit(0) : source.unit} as "unit",
      coalesce(${sql.ref(DIMENSION_COLUMNS[by])}, '') as "value",
      ${total(sql`sum(cost_micros)`)} as "costMicros",
      ${total(sql`sum(input_tokens)`)} as "inputTokens",
      ${total(sql`sum(output_tokens)`)} as "outputTokens",
      ${total(source.requests)} as "requests",
      ${total(source.failed)} as "failed"
    from ${sql.table(source.table)}
    where tenant_id = ${tenantId} and ${source.time} >= ${from} and ${source.time} < ${to}
      ${sql.join(filters, sql` `)}
    group by 1, 2`.execute(db);
  return rows;
}

function inBuckets(sums: readonly UnitSum[], every: CostQuery['every']): readonly CostSum[] {
  const buckets = new Map<string, CostSum>();
  for (const { unit, ...sum } of sums) {
    const bucket = every === null ? '' : bucketOf(every, unit);
    const id = JSON.stringify([bucket, sum.value]);
    const before = buckets.get(id);
    buckets.set(id, before === undefined ? { bucket, ...sum } : added(before, sum));
  }
  return [...buckets.values()].toSorted(
    (one, other) =>
      compare(one.bucket, other.bucket) ||
      other.costMicros - one.costMicros ||
      compare(one.value, other.value),
  );
}

function added(to: CostSum, more: Omit<CostSum, 'bucket'>): CostSum {
  return {
    bucket: to.bucket,
    value: to.value,
    costMicros: to.costMicros + more.costMicros,
    inputTokens: to.inputTokens + more.inputTokens,
    outputTokens: to.outputTokens + more.outputTokens,
    requests: to.requests + more.requests,
    failed: to.failed + more.failed,
  };
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Weeks begin on Monday. */
function bucketOf(every: CostBucket, unit: number): string {
  if (every === 'hour') return `${new Date(unit * HOUR_MS).toISOString().slice(0, 19)}Z`;
  // The first day of 1970 was a Thursday.
  const first = every === 'week' ? unit - ((unit + 3) % 7) : unit;
  const text = new Date(first * DAY_MS).toISOString().slice(0, 10);
  return every === 'month' ? `${text.slice(0, 7)}-01` : text;
}
