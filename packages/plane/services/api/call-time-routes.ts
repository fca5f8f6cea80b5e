// Calls and turns by time: what a page draws.
import {
  API_ACTIVITY,
  API_BUCKETS,
  API_COST_BUCKETS_MAX,
  API_COST_ROWS_MAX,
  API_ENDPOINTS,
  type ApiCost,
  type ApiCostQuery,
} from '@subluminal/contracts';
import { callFilter } from './call-queries.ts';
import { badRequest, type HttpFailure } from './http-failure.ts';
import { type ApiApp, get } from './routes.ts';
import type { ApiOptions, ApiReader } from './types.ts';

const BUCKET_MS = { hour: 3_600_000, day: 86_400_000 } as const;
const COST_DAYS = 7;

export function addCallTimes(app: ApiApp, { reader, nowMs }: ApiOptions): void {
  const { histogram, activity, cost } = API_ENDPOINTS;
  get(app, histogram, async ({ buckets = API_BUCKETS.fallback, ...query }) => {
    const { from_ms: fromMs, to_ms: toMs = nowMs() + 1 } = query;
    return reader.histogram(await callFilter(query, reader), { fromMs, toMs, buckets });
  });
  get(app, activity, async ({ run_ids }) => ({
    rows: await reader.activity(run_ids, API_ACTIVITY.buckets),
  }));
  get(app, cost, (query) => costOf(reader, query, nowMs()));
}

async function costOf(
  reader: Pick<ApiReader, 'turnCosts'>,
  { by = 'model', bucket = 'day', from_ms, to_ms }: ApiCostQuery,
  nowMs: number,
): Promise<ApiCost | HttpFailure> {
  const bucketMs = BUCKET_MS[bucket];
  const toMs = Math.ceil((to_ms ?? nowMs + 1) / bucketMs) * bucketMs;
  const weekBefore = Math.max(0, toMs - COST_DAYS * BUCKET_MS.day);
  const fromMs = Math.floor((from_ms ?? weekBefore) / bucketMs) * bucketMs;
  const count = (toMs - fromMs) / bucketMs;
  if (count < 1) return badRequest('The end is not after the start.');
  if (count > API_COST_BUCKETS_MAX) {
    return badRequest(`These are more than ${API_COST_BUCKETS_MAX} of a ${bucket}.`);
  }
  const group = by === 'principal' ? 'user' : by;
  const times = { fromMs, toMs, bucketMs };
  const costs = await reader.turnCosts({ by: group, ...times, rowsMax: API_COST_ROWS_MAX });
  return { by, bucket, from_ms: fromMs, to_ms: toMs, bucket_ms: bucketMs, ...costs };
}
