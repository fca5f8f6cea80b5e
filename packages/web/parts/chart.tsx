// A chart over time. uPlot draws on a canvas, which not everybody can see: a view tells the numbers otherwise, too.
import { useEffect, useRef, useState } from 'react';
// oxlint-disable-next-line import/no-unassigned-import -- It must come before uPlot is loaded.
import './known-language.ts';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { momentText } from './amounts.ts';
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
  /** Bars that stand on each other, each for so much time, which is counted in UTC. */
  readonly stackMs?: number;
}

const MS = 1_000;
const ROOM_ABOVE = 1.1;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const UTC = 'Etc/UTC';
/** In s. */
const DAYS_APART = [1, 2, 7, 14, 28].map((days) => (days * DAY_MS) / MS);

/** Drawn anew when the colours change. */
export function Chart(props: ChartProps) {
  const { shown } = useTheme();
  return <Drawing key={shown} {...props} />;
}

function Drawing(props: ChartProps) {
  const { label, atMs, series, height = 160, valueText, stackMs } = props;
  const host = useRef<HTMLDivElement>(null);
  /** The place in time below the pointer. */
  const [place, setPlace] = useState<number | null>(null);
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const plot = drawn(element, { atMs, series, height, valueText, stackMs, onPlace: setPlace });
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [atMs, series, height, valueText, stackMs]);
  const placeText = (value: number | null | undefined) =>
    typeof value === 'number' ? valueText(value) : '–';
  const at = place === null ? undefined : atMs[place];
  return (
    <figure aria-label={label}>
      <div ref={host} style={{ height }} aria-hidden="true" />
      <figcaption className="flex min-h-5 flex-wrap items-center gap-x-3 px-2 text-12 text-dim">
        {series.map(({ label: name, color, values }) => (
          <span key={name} className="inline-flex items-center gap-1">
            <span className="size-2" style={{ background: `var(${color})` }} />
            {name}
            {place !== null && <span className="text-ink">{placeText(values[place])}</span>}
          </span>
        ))}
        {at !== undefined && (
          <time className="ml-auto" dateTime={new Date(at).toISOString()}>
            {stackMs === undefined ? momentText(at) : utcText(at, stackMs)}
          </time>
        )}
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

/** `12:00` with the day below where it begins, or days alone when the ticks are that far apart. */
function timeTexts(ticks: readonly number[], isUtc: boolean): string[] {
  const [first = 0, second = first] = ticks;
  const isByDay = (second - first) * MS >= DAY_MS;
  return ticks.map((tick, at) => {
    const zoneMs = isUtc ? 0 : new Date(tick * MS).getTimezoneOffset() * MINUTE_MS;
    const text = new Date(tick * MS - zoneMs).toISOString();
    const [day, time] = [text.slice(5, 10), text.slice(11, 16)];
    if (isByDay) return day;
    return at === 0 || time === '00:00' ? `${time}\n${day}` : time;
  });
}

/** `2026-01-31`, and `12:00 UTC` for parts of a day. */
function utcText(atMs: number, stackMs: number): string {
  const text = new Date(atMs).toISOString();
  return stackMs < DAY_MS ? `${text.slice(0, 10)} ${text.slice(11, 16)} UTC` : text.slice(0, 10);
}

interface DrawOptions extends Omit<ChartProps, 'label' | 'height' | 'stackMs'> {
  readonly height: number;
  readonly stackMs: number | undefined;
  readonly onPlace: (place: number | null) => void;
}

function drawn(element: HTMLElement, options: DrawOptions): uPlot {
  const { atMs, series, height, valueText, stackMs, onPlace } = options;
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color('--color-dim'),
    grid: { stroke: color('--color-line'), width: 1 },
    font: '12px system-ui',
  };
  const bars = uPlot.paths.bars?.({
    size: stackMs === undefined ? [0.8, 40] : [0.9],
    ...(stackMs !== undefined && { align: 1 as const }),
  });
  const isBars = (kind: Series['kind']) => kind === 'bars' || stackMs !== undefined;
  const lines = series.map((one) => ({ ...one, values: drawnValues(one) }));
  // The whole stack is drawn first, and each part below it over it.
  const shown = stackMs === undefined ? lines : stacked(lines);
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      legend: { show: false },
      hooks: { setCursor: [(plot) => onPlace(placeBelow(plot, stackMs))] },
      ...(stackMs !== undefined && {
        tzDate: (at: number) => uPlot.tzDate(new Date(at * MS), UTC),
      }),
      scales: {
        y: { range: (_plot, _lowest, highest) => [0, (highest || 1) * ROOM_ABOVE] },
        ...(stackMs !== undefined && {
          x: { range: (_plot: uPlot, first: number, last: number) => [first, last + stackMs / MS] },
        }),
      },
      padding: [8, 20, 0, 0],
      axes: [
        {
          ...axis,
          values: (_, ticks) => timeTexts(ticks, stackMs !== undefined),
          // A whole day has no hours below it.
          ...(stackMs === DAY_MS && { incrs: DAYS_APART }),
        },
        { ...axis, size: 64, values: (_, ticks) => ticks.map(valueText) },
      ],
      series: [
        {},
        ...shown.map(({ label: name, color: token, kind }) => ({
          label: name,
          stroke: color(token),
          width: stackMs === undefined ? 1.5 : 0,
          points: {
            show: () => false,
            size: 5,
            fill: color(token),
            filter: isBars(kind) ? () => null : loneValues,
          },
          ...(isBars(kind) && bars && { paths: bars, fill: color(token) }),
        })),
      ],
    },
    [atMs.map((at) => at / MS), ...shown.map(({ values }) => values)],
    element,
  );
}

/** A bar reaches from its moment to the next one; of a line, the nearest point counts. */
function placeBelow(plot: uPlot, stackMs: number | undefined): number | null {
  const { data } = plot;
  const { idx, left } = plot.cursor;
  if (idx === null || idx === undefined || left === undefined) return null;
  if (stackMs === undefined) return idx;
  const behindS = plot.posToVal(left, 'x') - (data[0][0] ?? 0);
  return Math.min(data[0].length - 1, Math.max(0, Math.floor((behindS * MS) / stackMs)));
}

interface Line extends Series {
  readonly values: (number | null)[];
}

function stacked(lines: readonly Line[]): readonly Line[] {
  const below: number[] = [];
  return lines
    .map((line) => ({
      ...line,
      values: line.values.map((value, at) => (below[at] = (below[at] ?? 0) + (value ?? 0))),
    }))
    .toReversed();
}
