// Which part of the timeline is shown. The address has it as times, so that it means the same when the run goes on.
import { useEffect, useState } from 'react';
import { goTo, useAddress } from '../../address/address.ts';
import type { AxisWindow } from './draw-timeline.ts';
import type { TimeAxis, TimeSpan } from './time-axis.ts';

const STEP = 1.6;
const LEAST = 1;
/** Browsers refuse an address that changes with every turn of a wheel. */
const ADDRESS_AFTER_MS = 250;

export interface Zoom {
  readonly window: AxisWindow;
  readonly isWhole: boolean;
  /** Beyond 1 shows less, and more of it; `at` is the part of the width that stays where it is. */
  readonly scale: (factor: number, at?: number) => void;
  /** By parts of the width. */
  readonly pan: (parts: number) => void;
  readonly show: (window: AxisWindow) => void;
  readonly reset: () => void;
}

export const ZOOM_STEP = STEP;

export function useZoom(axis: TimeAxis): Zoom {
  const { params } = useAddress();
  const [span, setSpan] = useState(() => spanIn(params));
  useEffect(() => {
    const timer = setTimeout(() => {
      const text = (atMs: number | undefined) =>
        atMs === undefined ? '' : String(Math.round(atMs));
      goTo({ params: { from: text(span?.fromMs), to: text(span?.toMs) } }, 'replace');
    }, ADDRESS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [span]);
  const window =
    span === undefined
      ? { from: 0, to: axis.length }
      : within({ from: axis.place(span.fromMs), to: axis.place(span.toMs) }, axis.length);
  const length = window.to - window.from;
  const show = (next: AxisWindow) => {
    const { from, to } = within(next, axis.length);
    const isWhole = from <= 0 && to >= axis.length;
    setSpan(isWhole ? undefined : { fromMs: axis.moment(from), toMs: axis.moment(to) });
  };
  return {
    window,
    isWhole: span === undefined,
    show,
    scale: (factor, at = 0.5) => {
      const fixed = window.from + length * at;
      const next = Math.max(LEAST, length / factor);
      show({ from: fixed - next * at, to: fixed + next * (1 - at) });
    },
    pan: (parts) => {
      const by = Math.min(axis.length - window.to, Math.max(-window.from, parts * length));
      show({ from: window.from + by, to: window.to + by });
    },
    reset: () => setSpan(undefined),
  };
}

function within({ from, to }: AxisWindow, length: number): AxisWindow {
  const start = Math.max(0, Math.min(from, length - LEAST));
  return { from: start, to: Math.min(Math.max(to, start + LEAST), Math.max(length, LEAST)) };
}

function spanIn({ from = '', to = '' }: Readonly<Record<string, string>>): TimeSpan | undefined {
  const [fromMs, toMs] = [Number(from), Number(to)];
  return fromMs > 0 && toMs > fromMs ? { fromMs, toMs } : undefined;
}
