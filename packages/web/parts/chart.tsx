// A chart over time. uPlot draws on a canvas, so a table of the same numbers is there for those who cannot see it.
import { useEffect, useRef } from 'react';
// oxlint-disable-next-line import/no-unassigned-import -- It must come before uPlot is loaded.
import './known-language.ts';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from './theme.ts';

export interface Series {
  readonly label: string;
  /** A custom property of the tokens: `--color-allow`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly kind?: 'line' | 'bars';
}

interface ChartProps {
  readonly label: string;
  readonly atMs: readonly number[];
  readonly series: readonly Series[];
  readonly height?: number;
  readonly valueText: (value: number) => string;
}

const MS = 1_000;
const ROOM_ABOVE = 1.1;

/** Drawn anew when the colours change. */
export function Chart(props: ChartProps) {
  const { shown } = useTheme();
  return <Drawing key={shown} {...props} />;
}

function Drawing({ label, atMs, series, height = 160, valueText }: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const style = getComputedStyle(element);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: color('--color-dim'),
      grid: { stroke: color('--color-line'), width: 1 },
      font: '12px system-ui',
    };
    const bars = uPlot.paths.bars?.({ size: [0.8, 40] });
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        cursor: { y: false },
        legend: { show: false },
        scales: { y: { range: (_plot, _lowest, highest) => [0, (highest || 1) * ROOM_ABOVE] } },
        axes: [axis, { ...axis, size: 64, values: (_, ticks) => ticks.map(valueText) }],
        series: [
          {},
          ...series.map(({ label: name, color: token, kind }) => ({
            label: name,
            stroke: color(token),
            width: 1.5,
            points: {
              show: () => false,
              size: 5,
              fill: color(token),
              filter: kind === 'bars' ? () => null : loneValues,
            },
            ...(kind === 'bars' && bars && { paths: bars, fill: color(token) }),
          })),
        ],
      },
      [atMs.map((at) => at / MS), ...series.map(drawnValues)],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [atMs, series, height, valueText]);
  return (
    <figure aria-label={label}>
      <div ref={host} style={{ height }} aria-hidden="true" />
      <figcaption className="flex flex-wrap gap-3 px-2 text-12 text-dim">
        {series.map(({ label: name, color }) => (
          <span key={name} className="inline-flex items-center gap-1">
            <span className="size-2" style={{ background: `var(${color})` }} />
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** A value between two gaps has no line: it is drawn as a point. */
function loneValues(plot: uPlot, at: number): number[] | null {
  const values = plot.data[at] ?? [];
  const isThere = (index: number) => (values[index] ?? null) !== null;
  const lone = [...values.keys()].filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  );
  return lone.length > 0 ? lone : null;
}

/** A bar of nothing would still have an outline. */
function drawnValues({ values, kind }: Series): (number | null)[] {
  return values.map((value) => (kind === 'bars' && value === 0 ? null : value));
}
