import { useSyncExternalStore } from 'react';
import { useAddress } from '../address/address.ts';

function watch(watcher: () => void): () => void {
  globalThis.addEventListener('resize', watcher);
  return () => globalThis.removeEventListener('resize', watcher);
}

export function useWindowWidth(): number {
  return useSyncExternalStore(watch, () => globalThis.innerWidth);
}

/** From this width on, the panel stands beside the view instead of above it. */
const PANEL = { besideFrom: 1_280, width: 480 } as const;

/** The width of the window, without a panel that stands beside the view. */
export function useRoomWidth(): number {
  const { params } = useAddress();
  const width = useWindowWidth();
  const isBeside = params['panel'] !== undefined && width >= PANEL.besideFrom;
  return isBeside ? width - PANEL.width : width;
}
