// Calls by time, as the scrubber draws them.
import type { ApiCallFilter, ApiHistogram } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask } from '../../api/ledger.ts';
import { useLiveSignal } from '../../api/live-signal.ts';
import { rangeTimes, type ShownRange } from '../../search/ranges.ts';

const BUCKETS = 240;
/** The window moves on with the time. */
const AGAIN_MS = 10_000;
const SIGNAL_MS = 1_000;

export function useHistogram(filter: ApiCallFilter, range: ShownRange): ApiHistogram | undefined {
  const { data, refetch } = useQuery({
    queryKey: ['histogram', filter, range],
    queryFn: ({ signal }) => {
      const query = { ...rangeTimes(range, Date.now()), ...filter, buckets: BUCKETS };
      return ask('histogram', { query }, signal);
    },
    placeholderData: keepPreviousData,
    refetchInterval: range.kind === 'since' ? AGAIN_MS : false,
  });
  useLiveSignal(() => void refetch(), SIGNAL_MS);
  return data;
}

export const BARS_HEIGHT = 40;

/** The outline of all bars: one element, however many there are. */
export function barsPath(counts: readonly number[], most: number): string {
  return counts
    .map((count, at) => {
      if (count === 0) return '';
      const height = Math.max(1.5, (count / most) * BARS_HEIGHT);
      return `M${at} ${BARS_HEIGHT}v-${height.toFixed(2)}h0.85v${height.toFixed(2)}z`;
    })
    .join('');
}
