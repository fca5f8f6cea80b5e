// The hub and its client; a shim loads only `./client/index.ts`.
export { createHubClient } from './client/client.ts';
export type {
  Evaluated,
  HubClient,
  HubClientLimits,
  HubClientMade,
  HubClientOptions,
  HubReadiness,
  RunTerms,
} from './client/types.ts';
export type { Said } from './gates.ts';
export { weigh } from './gates.ts';
export { createHub } from './hub.ts';
export { openHub } from './open.ts';
export type {
  Hub,
  HubControl,
  HubLimits,
  HubListen,
  HubOpened,
  HubOptions,
  Judge,
  JudgedCall,
  OpenHubOptions,
  RunningHub,
  ServerLimits,
  ShimStatus,
  UnlikeShim,
} from './types.ts';
