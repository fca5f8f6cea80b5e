// Which moment is shown, and whether time goes on: the parts of a recorder.
import { useEffect, useEffectEvent, useState } from 'react';
import { goTo, useAddress } from '../../address/address.ts';
import { useShortcut } from '../../parts/shortcuts.ts';

export interface Player {
  /** Undefined is now. */
  readonly atMs: number | undefined;
  /** Of now: new calls are held back. */
  readonly isPaused: boolean;
  /** Whether the moment that is shown moves on. */
  readonly isPlaying: boolean;
  readonly toggle: () => void;
  readonly goLive: () => void;
  readonly scrub: (atMs: number | undefined, isDone: boolean) => void;
}

const TICK_MS = 250;
/** Recorded time goes by faster. */
export const PLAY_SPEED = 10;

export function usePlayer(): Player {
  const { params } = useAddress();
  const { at = '' } = params;
  // While it moves it is not in the address: a browser takes only so many changes of it.
  const [moving, setMoving] = useState<number>();
  const [isPlaying, setPlaying] = useState(false);
  const [isPaused, setPaused] = useState(false);
  const atMs = moving ?? (/^\d{1,15}$/.test(at) ? Number(at) : undefined);

  const keep = (moment: number | undefined) => {
    setMoving(undefined);
    goTo({ params: { at: moment === undefined ? '' : String(moment) } }, 'replace');
  };
  const goOn = useEffectEvent(() => {
    const next = (atMs ?? 0) + TICK_MS * PLAY_SPEED;
    if (next < Date.now()) return setMoving(next);
    setPlaying(false);
    return keep(undefined);
  });
  const isMoving = isPlaying && atMs !== undefined;
  useEffect(() => {
    const timer = isMoving ? setInterval(() => goOn(), TICK_MS) : undefined;
    return () => clearInterval(timer);
  }, [isMoving]);

  const toggle = () => {
    if (atMs === undefined) return setPaused(!isPaused);
    if (isPlaying) keep(atMs);
    return setPlaying(!isPlaying);
  };
  useShortcut(' ', toggle);
  return {
    atMs,
    isPaused: isPaused && atMs === undefined,
    isPlaying,
    toggle,
    goLive: () => {
      setPaused(false);
      setPlaying(false);
      keep(undefined);
    },
    scrub: (moment, isDone) => {
      setPlaying(false);
      if (isDone || moment === undefined) keep(moment);
      else setMoving(moment);
    },
  };
}
