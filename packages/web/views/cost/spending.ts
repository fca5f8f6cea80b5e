// What was spent, by name and by time: the same form for the two servers, whose answers differ.
import type { ApiCost, CostDimension, GatewayAnswerOf } from '@subluminal/contracts';
import { DAY_MS, HOUR_MS } from '../../parts/amounts.ts';

export interface SpendingLine {
  /** Empty when it is not known, null for all that are not listed. */
  readonly name: string | null;
  /** What people call it. */
  readonly title: string | null;
  readonly costMicros: number;
  readonly calls: number;
  readonly failed: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costMicrosByTime: readonly number[];
}

export interface Spending {
  readonly atMs: readonly number[];
  readonly bucketMs: number;
  /** The dearest first. */
  readonly lines: readonly SpendingLine[];
  readonly total: Omit<SpendingLine, 'name' | 'title' | 'costMicrosByTime'>;
  /** Calls that used tokens whose price is not known. */
  readonly unpriced: number;
}

export interface SpendingRange {
  readonly id: string;
  readonly title: string;
  readonly bucket: 'hour' | 'day';
  readonly buckets: number;
}

const BUCKET_MS = { hour: HOUR_MS, day: DAY_MS } as const;

const WEEK: SpendingRange = { id: '7d', title: 'Last 7 days', bucket: 'day', buckets: 7 };
export const RANGES: readonly SpendingRange[] = [
  { id: '24h', title: 'Last 24 hours', bucket: 'hour', buckets: 24 },
  WEEK,
  { id: '30d', title: 'Last 30 days', bucket: 'day', buckets: 30 },
  { id: '90d', title: 'Last 90 days', bucket: 'day', buckets: 90 },
];

export function rangeOf(id: string | undefined): SpendingRange {
  return RANGES.find((range) => range.id === id) ?? WEEK;
}

export interface BucketTimes {
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucketMs: number;
}

/** Whole hours or days in UTC; the last one is not over. */
export function timesOf({ bucket, buckets }: SpendingRange, nowMs: number): BucketTimes {
  const bucketMs = BUCKET_MS[bucket];
  const toMs = (Math.floor(nowMs / bucketMs) + 1) * bucketMs;
  return { fromMs: toMs - buckets * bucketMs, toMs, bucketMs };
}

function momentsOf({ fromMs, toMs, bucketMs }: BucketTimes): readonly number[] {
  const count = Math.round((toMs - fromMs) / bucketMs);
  return Array.from({ length: count }, (_, at) => fromMs + at * bucketMs);
}

export function ledgerSpending(cost: ApiCost): Spending {
  const { from_ms: fromMs, to_ms: toMs, bucket_ms: bucketMs } = cost;
  return {
    atMs: momentsOf({ fromMs, toMs, bucketMs }),
    bucketMs,
    lines: cost.rows.map((row) => ({
      ...ledgerSums(row),
      name: row.name,
      title: null,
      costMicrosByTime: row.cost_micros_by_time,
    })),
    total: ledgerSums(cost.total),
    unpriced: cost.total.unpriced,
  };
}

function ledgerSums(sums: ApiCost['total']) {
  return {
    costMicros: sums.cost_micros,
    calls: sums.turns,
    failed: sums.failed,
    tokensIn: sums.tokens_in,
    tokensOut: sums.tokens_out,
  };
}

type GatewayCostRow = GatewayAnswerOf<'costSummary'>['rows'][number];

/** A gateway gives a row for each name and bucket in which something was spent. */
export function gatewaySpending(rows: readonly GatewayCostRow[], times: BucketTimes): Spending {
  const atMs = momentsOf(times);
  const names = [...new Set(rows.map(({ dim_value }) => dim_value))];
  const lines = names.map((name) => {
    const own = rows.filter(({ dim_value }) => dim_value === name);
    const costMicrosByTime = atMs.map(() => 0);
    for (const { bucket, cost_micros } of own) {
      const at = Math.floor((Date.parse(bucket) - times.fromMs) / times.bucketMs);
      if (at in costMicrosByTime) {
        costMicrosByTime[at] = (costMicrosByTime[at] ?? 0) + cost_micros;
      }
    }
    return { ...gatewaySums(own), name, title: own[0]?.dim_name ?? null, costMicrosByTime };
  });
  return {
    atMs,
    bucketMs: times.bucketMs,
    lines: lines.toSorted((one, other) => other.costMicros - one.costMicros),
    total: gatewaySums(rows),
    unpriced: 0,
  };
}

function gatewaySums(rows: readonly GatewayCostRow[]) {
  const sum = (of: (row: GatewayCostRow) => number) => rows.reduce((all, row) => all + of(row), 0);
  return {
    costMicros: sum((row) => row.cost_micros),
    calls: sum((row) => row.n_requests),
    failed: sum((row) => row.n_failed),
    tokensIn: sum((row) => row.input_tokens),
    tokensOut: sum((row) => row.output_tokens),
  };
}

export interface SpendingGroup<Id extends string> {
  readonly id: Id;
  readonly title: string;
  /** What `sub stats --by` calls it; it does not know all. */
  readonly statsBy?: string;
}

export const LEDGER_GROUPS: readonly SpendingGroup<ApiCost['by']>[] = [
  { id: 'model', title: 'Model', statsBy: 'model' },
  { id: 'provider', title: 'Provider' },
  { id: 'agent', title: 'Agent', statsBy: 'agent' },
  { id: 'principal', title: 'Person', statsBy: 'user' },
  { id: 'repo', title: 'Repository', statsBy: 'repo' },
  { id: 'rule', title: 'Rule' },
  { id: 'run', title: 'Run', statsBy: 'run' },
];

export const GATEWAY_GROUPS: readonly SpendingGroup<CostDimension>[] = [
  { id: 'team', title: 'Team', statsBy: 'team' },
  { id: 'user', title: 'Person', statsBy: 'user' },
  { id: 'repo', title: 'Repository', statsBy: 'repo' },
  { id: 'model', title: 'Model', statsBy: 'model' },
  { id: 'provider', title: 'Provider' },
  { id: 'task_type', title: 'Task', statsBy: 'task' },
  { id: 'policy_rule', title: 'Rule' },
];

/** The one that the address names, else the first. */
export function groupOf<Id extends string>(
  groups: readonly SpendingGroup<Id>[],
  id: string | undefined,
): SpendingGroup<Id> {
  const [first] = groups;
  const found = groups.find((group) => group.id === id) ?? first;
  if (found === undefined) throw new Error('There are no groups.');
  return found;
}

const PARTS_MAX = 6;

export interface SpendingPart {
  readonly label: string;
  /** A custom property of the tokens. */
  readonly color: string;
  readonly values: readonly number[];
}

/** The dearest, each with a colour, and all others as one part. */
export function chartParts({ lines, atMs }: Spending, nameless: string): readonly SpendingPart[] {
  const own = lines.filter(({ name }) => name !== null).slice(0, PARTS_MAX);
  const rest = lines.filter((line) => !own.includes(line));
  const parts = own.map((line, at) => ({
    label: lineTitle(line, nameless),
    color: partColor(at),
    values: line.costMicrosByTime,
  }));
  if (rest.length === 0) return parts;
  const values = atMs.map((_, at) =>
    rest.reduce((all, { costMicrosByTime }) => all + (costMicrosByTime[at] ?? 0), 0),
  );
  return [...parts, { label: 'Others', color: partColor(PARTS_MAX), values }];
}

export function partColor(at: number): string {
  return at < PARTS_MAX ? `--part-${at + 1}` : '--part-rest';
}

export function lineTitle({ name, title }: SpendingLine, nameless: string): string {
  if (name === null) return 'Others';
  return title ?? (name === '' ? nameless : name);
}
