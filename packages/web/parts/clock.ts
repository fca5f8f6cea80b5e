import { useSyncExternalStore } from 'react';

const TICK_MS = 1_000;
const watchers = new Set<() => void>();
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const one of watchers) one();
  }, TICK_MS);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time, once a second, the same for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(watch, () => nowMs);
}
