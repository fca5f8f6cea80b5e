// The runs that the filter of the address leaves, page by page, and what each did over its time.
import type { ApiQueryOf, ApiRun, ApiRunsActivity } from '@subluminal/contracts';
import { keepPreviousData, useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ask, asked } from '../../api/ledger.ts';
import { tellsOf, useLiveSignal } from '../../api/live-signal.ts';

/** As many as one question about activity takes. */
const PAGE_ROWS = 100;
const SIGNAL_MS = 500;

export type RunsFilter = Omit<ApiQueryOf<'runs'>, 'cursor' | 'limit' | 'from_ms' | 'to_ms'>;
export type RunActivity = ApiRunsActivity['rows'][number];

export interface RunRows {
  readonly rows: readonly ApiRun[];
  readonly activity: ReadonlyMap<string, RunActivity>;
  readonly isLoading: boolean;
  readonly cause: unknown;
  readonly askMore: () => void;
}

export function useRunRows(filter: RunsFilter, spanMs: number | undefined): RunRows {
  const runs = useInfiniteQuery({
    queryKey: ['runs', 'pages', filter, spanMs],
    queryFn: ({ pageParam, signal }) => {
      const since = spanMs === undefined ? {} : { from_ms: Date.now() - spanMs };
      const query = { ...filter, ...since, limit: PAGE_ROWS, ...pageParam };
      return ask('runs', { query }, signal);
    },
    initialPageParam: {},
    getNextPageParam: ({ next }) => (next === null ? undefined : { cursor: next }),
    placeholderData: keepPreviousData,
  });
  const pages = runs.data?.pages;
  const activities = useQueries({
    queries: (pages ?? [])
      .map(({ rows }) => rows.map(({ run_id }) => run_id))
      .filter((ids) => ids.length > 0)
      .map((run_ids) => ({
        ...asked('activity', { query: { run_ids } }),
        placeholderData: keepPreviousData,
      })),
  });
  // All pages are asked for again, so not for every call.
  useLiveSignal((signal) => {
    const { calls, isAll } = signal;
    if (calls.length === 0 && !tellsOf(signal, 'run_start', 'run_end')) return;
    // One question at a time: while it is on its way, further signals wait for the next.
    void runs.refetch({ cancelRefetch: false });
    const changed = new Set(calls.map(({ runId }) => runId));
    for (const [at, { refetch }] of activities.entries()) {
      const isChanged = pages?.[at]?.rows.some(({ run_id }) => changed.has(run_id)) ?? false;
      if (isAll || isChanged) void refetch({ cancelRefetch: false });
    }
  }, SIGNAL_MS);
  const known = activities.flatMap(({ data }) => data?.rows ?? []);
  return {
    rows: useMemo(() => (pages ?? []).flatMap(({ rows }) => rows), [pages]),
    activity: new Map(known.map((row) => [row.run_id, row])),
    isLoading: runs.isPending,
    cause: runs.error,
    askMore: () => {
      if (runs.hasNextPage && !runs.isFetching) void runs.fetchNextPage();
    },
  };
}
