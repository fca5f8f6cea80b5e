// Time as a bar: what happened when, and which moment is shown. A drag on the bars narrows the range, a drag
// below them goes back and forth in time.
import type { ApiHistogram } from '@subluminal/contracts';
import { type KeyboardEvent, memo, type PointerEvent, useMemo, useRef, useState } from 'react';
import { countText, momentText } from '../../parts/amounts.ts';
import { BARS_HEIGHT, barsPath } from './histogram.ts';

interface ScrubberProps {
  readonly histogram: ApiHistogram | undefined;
  /** The moment that is shown; undefined is now. */
  readonly atMs: number | undefined;
  readonly onScrub: (atMs: number | undefined, isDone: boolean) => void;
  readonly onSelect: (fromMs: number, toMs: number) => void;
}

const CLICK_PX = 4;
const LEAP = 10;
const NO_BARS = { from_ms: 0, to_ms: 1, bucket_ms: 1, calls: [], refused: [], asked: [] };

export function Scrubber({ histogram, atMs, onScrub, onSelect }: ScrubberProps) {
  const bars = histogram ?? NO_BARS;
  const { from_ms: fromMs, to_ms: toMs } = bars;
  const [hovered, setHovered] = useState<number>();
  const spanMs = Math.max(1, toMs - fromMs);
  const share = atMs === undefined ? 1 : Math.min(1, Math.max(0, (atMs - fromMs) / spanMs));
  /** Who drags to the right end is back at now. */
  const scrub = (at: number, isDone: boolean) =>
    onScrub(at >= 1 ? undefined : Math.round(fromMs + at * spanMs), isDone);
  const text = hovered === undefined ? undefined : bucketText(bars, hovered);
  return (
    <section aria-label="Time" className="border-b border-line px-3 pt-1 select-none">
      <SpanSelect
        onHover={setHovered}
        onClick={(at) => scrub(at, true)}
        onSelect={(from, to) => onSelect(fromMs + from * spanMs, fromMs + to * spanMs)}
      >
        <Bars histogram={bars} />
        <div
          className="pointer-events-none absolute inset-y-0 right-0 bg-page/60"
          style={{ left: `${share * 100}%` }}
        />
      </SpanSelect>
      <Track {...{ share, bars, atMs, scrub, onScrub }} />
      <div className="flex h-5 items-center justify-between text-12 text-dim">
        <span>{histogram === undefined ? '' : momentText(fromMs).slice(0, 16)}</span>
        <span className="truncate px-2 text-ink">{text ?? totalText(bars)}</span>
        <span>{histogram === undefined ? '' : momentText(toMs).slice(0, 16)}</span>
      </div>
    </section>
  );
}

type Bars = Pick<ApiHistogram, 'from_ms' | 'to_ms' | 'bucket_ms' | 'calls' | 'refused'>;

const Bars = memo(({ histogram }: { readonly histogram: Bars }) => {
  const { calls, refused } = histogram;
  const most = Math.max(1, ...calls);
  const paths = useMemo(
    () => ({ calls: barsPath(calls, most), refused: barsPath(refused, most) }),
    [calls, refused, most],
  );
  return (
    <svg
      viewBox={`0 0 ${Math.max(1, calls.length)} ${BARS_HEIGHT}`}
      preserveAspectRatio="none"
      className="block h-10 w-full border-b border-line"
      role="img"
      aria-label={totalText(histogram)}
    >
      <path d={paths.calls} fill="var(--color-dim)" opacity="0.55" />
      <path d={paths.refused} fill="var(--color-block)" />
    </svg>
  );
});

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function countsText(calls: number, refused: number): string {
  const word = calls === 1 ? 'call' : 'calls';
  return `${countText(calls)} ${word}, ${countText(refused)} refused`;
}

function totalText({ calls, refused }: Bars): string {
  return calls.length === 0 ? '' : countsText(sum(calls), sum(refused));
}

function bucketText({ from_ms, bucket_ms, calls, refused }: Bars, share: number): string {
  const at = Math.min(calls.length - 1, Math.floor(share * calls.length));
  if (at < 0) return '';
  const when = momentText(from_ms + at * bucket_ms).slice(5, 19);
  return `${when} · ${countsText(calls[at] ?? 0, refused[at] ?? 0)}`;
}

/** Where in an element the pointer is, from 0 to 1. */
function shareAt({ clientX, currentTarget }: PointerEvent<HTMLElement>): number {
  const { left, width } = currentTarget.getBoundingClientRect();
  return Math.min(1, Math.max(0, (clientX - left) / Math.max(1, width)));
}

interface SpanSelectProps {
  readonly onHover: (share: number | undefined) => void;
  readonly onClick: (share: number) => void;
  readonly onSelect: (from: number, to: number) => void;
  readonly children: React.ReactNode;
}

function SpanSelect({ onHover, onClick, onSelect, children }: SpanSelectProps) {
  const [drag, setDrag] = useState<{ from: number; to: number; startX: number }>();
  const down = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const at = shareAt(event);
    setDrag({ from: at, to: at, startX: event.clientX });
  };
  const up = (event: PointerEvent<HTMLElement>) => {
    if (drag === undefined) return;
    setDrag(undefined);
    const to = shareAt(event);
    if (Math.abs(event.clientX - drag.startX) < CLICK_PX) onClick(to);
    else onSelect(Math.min(drag.from, to), Math.max(drag.from, to));
  };
  const [low, high] = drag === undefined ? [0, 0] : [drag.from, drag.to].toSorted((a, b) => a - b);
  return (
    <div
      className="relative cursor-crosshair touch-none"
      data-part="bars"
      onPointerDown={down}
      onPointerMove={(event) => {
        const at = shareAt(event);
        onHover(at);
        if (drag !== undefined) setDrag({ ...drag, to: at });
      }}
      onPointerUp={up}
      onPointerCancel={() => setDrag(undefined)}
      onPointerLeave={() => onHover(undefined)}
    >
      {children}
      {drag !== undefined && (
        <div
          className="pointer-events-none absolute inset-y-0 bg-accent/25"
          style={{ left: `${(low ?? 0) * 100}%`, width: `${((high ?? 0) - (low ?? 0)) * 100}%` }}
        />
      )}
    </div>
  );
}

interface TrackProps {
  readonly share: number;
  readonly bars: Bars;
  readonly atMs: number | undefined;
  readonly scrub: (share: number, isDone: boolean) => void;
  readonly onScrub: ScrubberProps['onScrub'];
}

function Track({ share, bars, atMs, scrub, onScrub }: TrackProps) {
  const isDragged = useRef(false);
  const { from_ms: fromMs, to_ms: toMs, bucket_ms: stepMs } = bars;
  const onKey = (event: KeyboardEvent) => {
    const steps = KEY_STEPS[event.key];
    if (steps === undefined) return;
    event.preventDefault();
    const far = event.shiftKey ? LEAP : 1;
    const next = Math.max(fromMs, (atMs ?? toMs) + steps * far * stepMs);
    onScrub(next >= toMs ? undefined : Math.round(next), true);
  };
  const value = Math.round(atMs ?? toMs);
  return (
    <div
      className="relative h-4 cursor-ew-resize touch-none"
      data-part="track"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        isDragged.current = true;
        scrub(shareAt(event), false);
      }}
      onPointerMove={(event) => isDragged.current && scrub(shareAt(event), false)}
      onPointerUp={(event) => {
        if (isDragged.current) scrub(shareAt(event), true);
        isDragged.current = false;
      }}
    >
      <div className="absolute inset-x-0 top-[7px] h-0.5 bg-line" />
      <div
        className="absolute top-[7px] left-0 h-0.5 bg-accent"
        style={{ width: `${share * 100}%` }}
      />
      <div
        role="slider"
        tabIndex={0}
        aria-label="Moment shown"
        aria-valuemin={fromMs}
        aria-valuemax={Math.max(toMs, value)}
        aria-valuenow={Math.max(fromMs, value)}
        aria-valuetext={atMs === undefined ? 'now' : momentText(atMs)}
        onKeyDown={onKey}
        className="absolute top-0.5 h-3 w-2 -translate-x-1/2 rounded-2 bg-accent"
        style={{ left: `${share * 100}%` }}
      />
    </div>
  );
}

const KEY_STEPS: { readonly [key: string]: number } = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -LEAP,
  PageUp: LEAP,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};
