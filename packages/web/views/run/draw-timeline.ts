// Draws the bars on a canvas: thousands of elements would not be smooth.
import { DECISION_LOOKS } from '@subluminal/contracts';
import { durationText } from '../../parts/amounts.ts';
import { DECISION_FILLS } from '../../parts/decision-mark.tsx';
import { type CallBar, isRefused, type Lanes } from './lanes.ts';
import { offsetText } from './offset-text.ts';
import type { TimeAxis } from './time-axis.ts';

const AXIS_HEIGHT = 24;
const ROW_HEIGHT = 16;
const LANE_PADDING = 6;
const BAR_HEIGHT = 12;
const BAR_MIN = 2;
const TICK_DISTANCE = 96;
const FONT = '12px system-ui';

/** The part of the axis that is shown. */
export interface AxisWindow {
  readonly from: number;
  readonly to: number;
}

export interface TimelineScene extends Lanes {
  readonly axis: TimeAxis;
  readonly window: AxisWindow;
  readonly width: number;
  readonly startMs: number;
  readonly theme: 'light' | 'dark';
  /** The calls that stand out: the open one, and the one that keys or the pointer are at. */
  readonly selected: string | undefined;
  readonly reached: string | undefined;
}

export interface LanePlace {
  readonly top: number;
  readonly height: number;
}

export function lanePlaces({ lanes }: Lanes): readonly LanePlace[] {
  let top = AXIS_HEIGHT;
  return lanes.map(({ rows }) => {
    const height = rows * ROW_HEIGHT + 2 * LANE_PADDING;
    top += height;
    return { top: top - height, height };
  });
}

export function timelineHeight(lanes: Lanes): number {
  const last = lanePlaces(lanes).at(-1);
  return last === undefined ? AXIS_HEIGHT : last.top + last.height;
}

/** Where a place of the axis is on the canvas. */
function pixel({ window, width }: TimelineScene, place: number): number {
  return ((place - window.from) / (window.to - window.from)) * width;
}

interface BarBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

function boxOf(bar: CallBar, scene: TimelineScene, places: readonly LanePlace[]): BarBox {
  const x = pixel(scene, scene.axis.place(bar.fromMs));
  const end = pixel(scene, scene.axis.place(bar.toMs));
  const y = (places[bar.lane]?.top ?? 0) + LANE_PADDING + bar.row * ROW_HEIGHT;
  return { x, y, width: Math.max(BAR_MIN, end - x) };
}

const REACH = 3;

/** The call below a point, the nearest one within a few pixels. */
export function barAt(
  scene: TimelineScene,
  point: { readonly x: number; readonly y: number },
): CallBar | undefined {
  const places = lanePlaces(scene);
  let nearest: { readonly bar: CallBar; readonly distance: number } | undefined;
  for (const bar of scene.bars) {
    const { x, y, width } = boxOf(bar, scene, places);
    if (point.y < y - 2 || point.y > y + BAR_HEIGHT + 2) continue;
    // The mark of a refused call is wider than its bar.
    const reach = isRefused(bar.call) ? REACH + 5 : REACH;
    const distance = Math.max(0, x - point.x, point.x - (x + width));
    if (distance <= reach && distance <= (nearest?.distance ?? reach)) nearest = { bar, distance };
  }
  return nearest?.bar;
}

export function drawTimeline(canvas: HTMLCanvasElement, scene: TimelineScene): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const height = timelineHeight(scene);
  const scale = globalThis.devicePixelRatio;
  canvas.width = Math.max(1, Math.round(scene.width * scale));
  canvas.height = Math.round(height * scale);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const style = getComputedStyle(canvas);
  const paint: Paint = {
    context,
    scene,
    places: lanePlaces(scene),
    height,
    color: remembered((token) => style.getPropertyValue(token).trim()),
  };
  drawFrame(paint);
  for (const bar of scene.bars) drawRetry(paint, bar);
  // What was refused lies on top: among thousands it must not be hidden.
  for (const bar of scene.bars) if (!isRefused(bar.call)) drawBar(paint, bar);
  for (const bar of scene.bars) if (isRefused(bar.call)) drawBar(paint, bar);
  for (const bar of scene.bars) drawRing(paint, bar);
}

interface Paint {
  readonly context: CanvasRenderingContext2D;
  readonly scene: TimelineScene;
  readonly places: readonly LanePlace[];
  readonly height: number;
  readonly color: (token: string) => string;
}

function remembered(read: (token: string) => string): (token: string) => string {
  const known = new Map<string, string>();
  return (token) => {
    const value = known.get(token) ?? read(token);
    known.set(token, value);
    return value;
  };
}

function drawFrame({ context, scene, places, height, color }: Paint): void {
  context.font = FONT;
  context.textBaseline = 'middle';
  context.fillStyle = color('--color-line');
  for (const { top } of places) context.fillRect(0, top, scene.width, 1);
  for (const { place, text } of ticks(scene)) {
    const x = Math.round(pixel(scene, place));
    context.fillStyle = color('--color-line');
    context.fillRect(x, AXIS_HEIGHT - 6, 1, height);
    context.fillStyle = color('--color-dim');
    context.fillText(text, x + 4, AXIS_HEIGHT / 2);
  }
  for (const { from, to, fromMs, toMs } of scene.axis.folds) {
    const x = pixel(scene, from);
    const width = pixel(scene, to) - x;
    if (x > scene.width || x + width < 0) continue;
    context.fillStyle = color('--color-raised');
    context.fillRect(x, 0, width, height);
    hatch(
      context,
      { x, y: AXIS_HEIGHT, width, height: height - AXIS_HEIGHT },
      color('--color-line'),
    );
    const text = `${durationText(toMs - fromMs)} idle`;
    const textWidth = context.measureText(text).width;
    context.fillStyle = color('--color-dim');
    if (textWidth <= width) {
      context.fillText(text, x + (width - textWidth) / 2, AXIS_HEIGHT / 2);
    } else if (width > 8) context.fillText('⋯', x + width / 2 - 5, AXIS_HEIGHT / 2);
  }
}

const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 86_400];

/** Round times since the start, where nothing is folded. */
function ticks(scene: TimelineScene): readonly { readonly place: number; readonly text: string }[] {
  const { axis, window, width, startMs } = scene;
  const perPixelMs = (window.to - window.from) / Math.max(1, width);
  const steps = [...STEPS_MS, ...SECONDS.map((seconds) => seconds * 1_000)];
  const stepMs = steps.find((step) => step / perPixelMs >= TICK_DISTANCE) ?? 604_800_000;
  const found: { readonly place: number; readonly text: string }[] = [];
  const endMs = axis.moment(window.to);
  let lastX = Number.NEGATIVE_INFINITY;
  let atMs = startMs + Math.ceil((axis.moment(window.from) - startMs) / stepMs) * stepMs;
  while (atMs <= endMs && found.length < 200) {
    const fold = axis.folds.find(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
    if (fold !== undefined) {
      atMs = startMs + Math.ceil((fold.toMs - startMs) / stepMs) * stepMs;
      continue;
    }
    const place = axis.place(atMs);
    const x = pixel(scene, place);
    if (x - lastX >= TICK_DISTANCE / 2) {
      found.push({ place, text: offsetText(atMs - startMs, stepMs >= 1_000) });
      lastX = x;
    }
    atMs += stepMs;
  }
  return found;
}

function drawBar({ context, scene, places, color }: Paint, bar: CallBar): void {
  const { x, y, width } = boxOf(bar, scene, places);
  if (x > scene.width || x + width < 0) return;
  const look = lookOf(bar.decision);
  context.fillStyle = color(look.fill);
  context.fillRect(x, y, width, BAR_HEIGHT);
  if (bar.wait !== undefined) {
    const from = pixel(scene, scene.axis.place(bar.wait.fromMs));
    const waited = Math.max(BAR_MIN, pixel(scene, scene.axis.place(bar.wait.toMs)) - from);
    context.fillStyle = color('--color-page');
    context.fillRect(from, y, waited, BAR_HEIGHT);
    hatch(context, { x: from, y, width: waited, height: BAR_HEIGHT }, color('--color-ask'));
    context.strokeStyle = color('--color-ask');
    context.strokeRect(from + 0.5, y + 0.5, Math.max(1, waited - 1), BAR_HEIGHT - 1);
  }
  // A failure of a call that passed: a line below its bar.
  if (!isRefused(bar.call) && bar.call.status !== null && bar.call.status !== 'OK') {
    context.fillStyle = color('--color-danger');
    context.fillRect(x, y + BAR_HEIGHT - 3, Math.max(width, 4), 3);
  }
  if (look.shape !== '') {
    context.fillStyle = color(look.fill);
    context.font = FONT;
    context.fillText(look.shape, x + Math.max(width, BAR_MIN) + 1, y + BAR_HEIGHT / 2);
  }
}

/** A call that stands out is linked with the same one before it, however long ago that was. */
const LINKED_MS = 60_000;

/** A foot below a call that is made again, with a line to the one before it. */
function drawRetry({ context, scene, places, color }: Paint, bar: CallBar): void {
  if (bar.retryOf === undefined) return;
  const to = boxOf(bar, scene, places);
  const from = boxOf(bar.retryOf, scene, places);
  if (to.x < 0 || from.x > scene.width) return;
  const { call_id } = bar.call;
  const standsOut = call_id === scene.selected || call_id === scene.reached;
  context.fillStyle = color('--color-dim');
  context.fillRect(to.x, to.y + BAR_HEIGHT - 1, BAR_MIN, 3);
  if (!standsOut && bar.fromMs - bar.retryOf.fromMs > LINKED_MS) return;
  const start = Math.max(-1, from.x);
  const end = Math.min(scene.width + 1, to.x);
  context.fillRect(start, to.y + BAR_HEIGHT + 1, Math.max(1, end - start), 1);
}

function drawRing({ context, scene, places, color }: Paint, bar: CallBar): void {
  const { call_id } = bar.call;
  if (call_id !== scene.selected && call_id !== scene.reached) return;
  const { x, y, width } = boxOf(bar, scene, places);
  context.strokeStyle = color('--color-ink');
  context.lineWidth = call_id === scene.selected ? 2 : 1;
  context.strokeRect(x - 2, y - 2, width + 4, BAR_HEIGHT + 4);
  context.lineWidth = 1;
}

function lookOf(decision: string | null): { readonly fill: string; readonly shape: string } {
  const isKnown = (name: string): name is keyof typeof DECISION_LOOKS =>
    Object.hasOwn(DECISION_LOOKS, name);
  if (decision === null || !isKnown(decision)) return { fill: '--color-dim', shape: '' };
  const { shape } = DECISION_LOOKS[decision];
  return { fill: DECISION_FILLS[decision], shape: decision === 'ALLOW' ? '' : shape };
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const HATCH = 6;

function hatch(context: CanvasRenderingContext2D, box: Box, color: string): void {
  const { x, y, width, height } = box;
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = color;
  context.beginPath();
  // No more lines than pixels can show, however far the view is zoomed in.
  const from = Math.max(x, -height);
  const to = Math.min(x + width, globalThis.innerWidth) + height;
  for (let at = from - ((from - x) % HATCH); at < to; at += HATCH) {
    context.moveTo(at, y);
    context.lineTo(at - height, y + height);
  }
  context.stroke();
  context.restore();
}
