// Latency and outcomes of calls over time, of a server or of one of its tools.
import type { ApiServerSeries } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { asked } from '../../api/ledger.ts';
import { countText, durationText } from '../../parts/amounts.ts';
import { Chart } from '../../parts/chart.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { useTimeSpan } from './time-span.tsx';

const BUCKETS = 60;
const HEIGHT = 140;
const AGAIN_MS = 15_000;

interface ServerChartsProps {
  readonly server: string;
  readonly tool: string | undefined;
}

export function ServerCharts({ server, tool }: ServerChartsProps) {
  const only = tool === undefined ? {} : { tool_name: tool };
  const query = { ...useTimeSpan(), buckets: BUCKETS, ...only };
  const { data, error } = useQuery({
    ...asked('serverSeries', { ids: { server_name: server }, query }),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  if (error !== null) return <FailureText cause={error} />;
  return (
    <div className="flex flex-col gap-3">
      <h2 className="text-12 text-dim">Latency of allowed calls</h2>
      <Room isEmpty={data?.p95_ms.every((one) => one === null)}>
        {data !== undefined && <LatencyChart series={data} />}
      </Room>
      <h2 className="text-12 text-dim">Calls</h2>
      <Room isEmpty={data?.calls.every((one) => one === 0)}>
        {data !== undefined && <CallsChart series={data} />}
      </Room>
    </div>
  );
}

interface RoomProps {
  readonly isEmpty: boolean | undefined;
  readonly children: React.ReactNode;
}

/** As high as a chart with its legend, also before there is one. */
function Room({ isEmpty, children }: RoomProps) {
  return (
    <div style={{ minHeight: HEIGHT + 16 }}>
      {isEmpty === true ? (
        <p className="py-12 text-center text-dim">No calls in this time.</p>
      ) : (
        children
      )}
    </div>
  );
}

function useTimes({ from_ms, bucket_ms, calls }: ApiServerSeries): readonly number[] {
  const { length } = calls;
  return useMemo(
    () => Array.from({ length }, (_, at) => from_ms + at * bucket_ms),
    [from_ms, bucket_ms, length],
  );
}

function LatencyChart({ series }: { readonly series: ApiServerSeries }) {
  const { p50_ms, p95_ms } = series;
  const lines = useMemo(
    () => [
      { label: 'median', color: '--color-ask', values: p50_ms },
      { label: 'p95', color: '--color-throttle', values: p95_ms },
    ],
    [p50_ms, p95_ms],
  );
  const highest = Math.max(0, ...p95_ms.map((one) => one ?? 0));
  return (
    <Chart
      label={`Latency over time, p95 at most ${durationText(highest)}`}
      atMs={useTimes(series)}
      series={lines}
      height={HEIGHT}
      valueText={durationText}
    />
  );
}

/** There is no half call. */
const wholeText = (value: number) => (Number.isInteger(value) ? countText(value) : '');

const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0);

function CallsChart({ series }: { readonly series: ApiServerSeries }) {
  const { calls, refused, errors } = series;
  const bars = useMemo(
    () => [
      { label: 'calls', color: '--color-dim', values: calls, kind: 'bars' as const },
      { label: 'refused', color: '--color-block', values: refused, kind: 'bars' as const },
      {
        label: 'errors',
        color: '--color-danger',
        values: errors.map((one) => (one === 0 ? null : one)),
      },
    ],
    [calls, refused, errors],
  );
  const words = `${countText(sum(calls))} calls, ${countText(sum(refused))} refused, ${countText(sum(errors))} errors`;
  return (
    <Chart
      label={`Calls over time: ${words}`}
      atMs={useTimes(series)}
      series={bars}
      height={HEIGHT}
      valueText={wholeText}
    />
  );
}
