// What can open at the right: the address says which, as `panel=call/RUN/CALL`. A line here for each kind.

import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import type { PanelProps } from '../address/panel-address.ts';

export const PANELS: { readonly [kind: string]: LazyExoticComponent<ComponentType<PanelProps>> } = {
  call: lazy(async () => ({ default: (await import('../views/call/index.tsx')).CallPanel })),
  trace: lazy(async () => ({ default: (await import('../views/trace/index.tsx')).TracePanel })),
};
