// The pointer on the timeline: what it is at, what it drags, and the wheel.
import {
  type PointerEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react';
import { barAt, type TimelineScene } from './draw-timeline.ts';
import type { CallBar } from './lanes.ts';
import type { Zoom } from './zoom.ts';

export interface DragState {
  readonly from: number;
  readonly to: number;
}

interface TrackPointer {
  readonly scene: TimelineScene;
  readonly zoom: Zoom;
  readonly onOpen: (callId: string) => void;
  readonly host: RefObject<HTMLDivElement | null>;
}

/** A shorter way of the pointer is a click. */
const DRAG_MIN = 4;
const WHEEL_STEP = 1.2;

export function useTrackPointer({ scene, zoom, onOpen, host }: TrackPointer) {
  const [pointed, setPointed] = useState<{ readonly bar?: CallBar; readonly x: number }>({ x: 0 });
  const [drag, setDrag] = useState<DragState>();
  useWheel(host, zoom);
  const start = useRef<number>(undefined);
  const placeAt = (x: number) => {
    const { from, to } = scene.window;
    return from + (x / Math.max(1, scene.width)) * (to - from);
  };
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      start.current = pointOf(event).x;
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent) => {
      const point = pointOf(event);
      const from = start.current;
      const isDrag = from !== undefined && Math.abs(point.x - from) >= DRAG_MIN;
      setDrag(isDrag ? { from, to: point.x } : undefined);
      const bar = isDrag ? undefined : barAt(scene, point);
      setPointed({ x: point.x, ...(bar && { bar }) });
    },
    onPointerUp: (event: PointerEvent) => {
      const point = pointOf(event);
      const from = start.current;
      start.current = undefined;
      setDrag(undefined);
      if (from === undefined) return;
      if (Math.abs(point.x - from) >= DRAG_MIN) {
        const [left, right] = [Math.min(from, point.x), Math.max(from, point.x)];
        zoom.show({ from: placeAt(left), to: placeAt(right) });
        return;
      }
      const bar = barAt(scene, point);
      if (bar !== undefined) onOpen(bar.call.call_id);
    },
    onPointerCancel: () => {
      start.current = undefined;
      setDrag(undefined);
    },
    onPointerLeave: () => setPointed({ x: 0 }),
    onDoubleClick: zoom.reset,
  };
  return { bar: pointed.bar, x: pointed.x, drag, handlers };
}

function pointOf({ clientX, clientY, currentTarget }: PointerEvent) {
  const { left, top } = currentTarget.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}

/** React listens to wheels without being able to keep the page from scrolling. */
function useWheel(host: RefObject<HTMLDivElement | null>, zoom: Zoom): void {
  const turn = useEffectEvent((event: WheelEvent) => {
    const element = host.current;
    if (element === null) return;
    const { left, width } = element.getBoundingClientRect();
    const scroller = element.parentElement;
    const hasMore = scroller !== null && scroller.scrollHeight > scroller.clientHeight;
    const across = event.shiftKey ? event.deltaY : event.deltaX;
    const isAcross = Math.abs(across) > Math.abs(event.shiftKey ? 0 : event.deltaY);
    // Where the lanes have to be scrolled, the wheel alone does that.
    if (!isAcross && hasMore && !event.ctrlKey) return;
    event.preventDefault();
    if (isAcross) zoom.pan(across / Math.max(1, width));
    else {
      zoom.scale(event.deltaY < 0 ? WHEEL_STEP : 1 / WHEEL_STEP, (event.clientX - left) / width);
    }
  });
  useEffect(() => {
    const element = host.current;
    const listener = (event: WheelEvent) => turn(event);
    element?.addEventListener('wheel', listener, { passive: false });
    return () => element?.removeEventListener('wheel', listener);
  }, [host]);
}
