// What happened when: bars in lanes. The table below has the same calls for those who do not see or point.
import { useEffect, useMemo, useRef, useState } from 'react';
import { durationText } from '../../parts/amounts.ts';
import { Button, IconButton } from '../../parts/buttons.tsx';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { useShortcut } from '../../parts/shortcuts.ts';
import { useTheme } from '../../parts/theme.ts';
import { callName } from './call-name.ts';
import { drawTimeline, lanePlaces, timelineHeight } from './draw-timeline.ts';
import type { CallBar, Lanes } from './lanes.ts';
import type { TimeAxis } from './time-axis.ts';
import { type DragState, useTrackPointer } from './track-pointer.ts';
import { useZoom, ZOOM_STEP, type Zoom } from './zoom.ts';

interface TimelineProps {
  readonly lanes: Lanes;
  readonly axis: TimeAxis;
  readonly startMs: number;
  readonly isFolding: boolean;
  readonly onFold: (isFolding: boolean) => void;
  readonly selected: string | undefined;
  readonly reached: string | undefined;
  readonly onOpen: (callId: string) => void;
}

export function Timeline(props: TimelineProps) {
  const { lanes, axis, reached, isFolding, onFold } = props;
  const zoom = useZoom(axis);
  useZoomKeys(zoom);
  useReachedShown(lanes, axis, { zoom, reached });
  return (
    <section aria-label="Timeline" className="border-b border-line">
      <div className="flex h-8 items-center gap-1 px-3 text-12 text-dim">
        <h2 className="mr-2 text-13 text-ink">Timeline</h2>
        <IconButton label="Zoom in (+)" onClick={() => zoom.scale(ZOOM_STEP)}>
          +
        </IconButton>
        <IconButton label="Zoom out (-)" onClick={() => zoom.scale(1 / ZOOM_STEP)}>
          −
        </IconButton>
        <Button disabled={zoom.isWhole} onClick={zoom.reset} title="Show the whole run (0)">
          All
        </Button>
        <label className="ml-2 inline-flex items-center gap-1 whitespace-nowrap">
          <input
            type="checkbox"
            className="accent-accent"
            checked={isFolding}
            onChange={({ target }) => onFold(target.checked)}
          />
          Fold idle times
        </label>
        <Legend />
      </div>
      <div className="flex max-h-[38vh] overflow-y-auto">
        <LaneNames lanes={lanes} />
        <Track {...props} zoom={zoom} />
      </div>
    </section>
  );
}

function Legend() {
  return (
    <p className="ml-auto flex gap-3 truncate max-lg:hidden">
      <span>▨ waits for a person</span>
      <span>↻ the same call again</span>
      <span>drag or wheel to zoom</span>
    </p>
  );
}

function LaneNames({ lanes }: { readonly lanes: Lanes }) {
  const places = lanePlaces(lanes);
  return (
    <ul
      aria-label="Lanes"
      className="relative w-36 shrink-0 border-r border-line max-sm:w-20"
      style={{ height: timelineHeight(lanes) }}
    >
      {lanes.lanes.map(({ name, kind, calls, refused }, at) => (
        <li
          key={name}
          className="absolute flex w-full items-center gap-1 border-t border-line px-3 text-12 max-sm:px-1"
          style={places[at]}
          title={`${plainLine(name)}: ${calls} calls, ${refused} refused`}
        >
          <span className={`min-w-0 flex-1 truncate ${kind === 'model' ? 'italic' : 'font-mono'}`}>
            {kind === 'model' ? 'model' : plainLine(name)}
          </span>
          <span className="text-dim">{calls}</span>
        </li>
      ))}
    </ul>
  );
}

function useZoomKeys(zoom: Zoom): void {
  useShortcut('+', () => zoom.scale(ZOOM_STEP));
  useShortcut('=', () => zoom.scale(ZOOM_STEP));
  useShortcut('-', () => zoom.scale(1 / ZOOM_STEP));
  useShortcut('0', zoom.reset);
  useShortcut('ArrowLeft', () => zoom.pan(-0.25));
  useShortcut('ArrowRight', () => zoom.pan(0.25));
}

/** Keys that go through the table bring its call into view. */
function useReachedShown(
  { bars }: Lanes,
  axis: TimeAxis,
  { zoom, reached }: { readonly zoom: Zoom; readonly reached: string | undefined },
): void {
  const shown = useRef(reached);
  useEffect(() => {
    if (shown.current === reached) return;
    shown.current = reached;
    const bar = bars.find(({ call }) => call.call_id === reached);
    if (bar === undefined) return;
    const place = axis.place(bar.fromMs);
    const { from, to } = zoom.window;
    if (place < from || place > to) zoom.pan((place - (from + to) / 2) / (to - from));
  });
}

function useWidth() {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const host = element.current;
    if (host === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(host.clientWidth));
    observer.observe(host);
    return () => observer.disconnect();
  }, []);
  return { element, width };
}

function Track(props: TimelineProps & { readonly zoom: Zoom }) {
  const { lanes, axis, startMs, selected, reached, zoom, onOpen } = props;
  const { element, width } = useWidth();
  // The colours of a theme are read while it is drawn.
  const { shown: theme } = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const { from, to } = zoom.window;
  const scene = useMemo(
    () => ({ ...lanes, axis, startMs, width, selected, reached, theme, window: { from, to } }),
    [lanes, axis, startMs, width, selected, reached, theme, from, to],
  );
  const pointed = useTrackPointer({ scene, zoom, onOpen, host: element });
  const pointedId = pointed.bar?.call.call_id;
  useEffect(() => {
    if (canvas.current === null || width === 0) return;
    drawTimeline(canvas.current, { ...scene, reached: pointedId ?? scene.reached });
  }, [scene, width, pointedId]);
  const refused = lanes.lanes.reduce((sum, lane) => sum + lane.refused, 0);
  const label = `${lanes.bars.length} calls in ${lanes.lanes.length} lanes, ${refused} refused. The table below lists them.`;
  return (
    <div
      ref={element}
      className="relative min-w-0 flex-1 cursor-crosshair touch-pan-y overflow-hidden"
      style={{ height: timelineHeight(lanes) }}
      {...pointed.handlers}
    >
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        className="block"
        style={{ width, height: timelineHeight(lanes) }}
      />
      {pointed.drag !== undefined && <Band drag={pointed.drag} />}
      {pointed.bar !== undefined && <Tip bar={pointed.bar} x={pointed.x} width={width} />}
    </div>
  );
}

function Band({ drag }: { readonly drag: DragState }) {
  const left = Math.min(drag.from, drag.to);
  return (
    <div
      className="pointer-events-none absolute inset-y-0 border-x border-accent bg-accent/15"
      style={{ left, width: Math.abs(drag.to - drag.from) }}
    />
  );
}

const TIP_WIDTH = 280;

function Tip({
  bar,
  x,
  width,
}: {
  readonly bar: CallBar;
  readonly x: number;
  readonly width: number;
}) {
  const { call, decision, retries, wait } = bar;
  const left = Math.max(0, Math.min(x + 12, width - TIP_WIDTH));
  return (
    <div
      aria-hidden="true"
      className="pointer-events-none absolute top-0 z-10 flex flex-wrap items-baseline gap-x-2 rounded-4 border border-line bg-page px-2 py-1 text-12 shadow-panel"
      style={{ left, maxWidth: TIP_WIDTH }}
    >
      <span className="font-mono break-words">{callName(call)}</span>
      <DecisionMark decision={decision} />
      <span className="text-dim">{durationText(bar.toMs - bar.fromMs)}</span>
      {call.rule_id !== null && <span className="text-dim">{plainLine(call.rule_id)}</span>}
      {wait !== undefined && (
        <span className="text-ask-ink">waited {durationText(wait.toMs - wait.fromMs)}</span>
      )}
      {retries > 0 && <span className="text-dim">the same call, time {retries + 1}</span>}
    </div>
  );
}
