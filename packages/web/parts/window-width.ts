import { useSyncExternalStore } from 'react';

function watch(watcher: () => void): () => void {
  globalThis.addEventListener('resize', watcher);
  return () => globalThis.removeEventListener('resize', watcher);
}

export function useWindowWidth(): number {
  return useSyncExternalStore(watch, () => globalThis.innerWidth);
}
