// The hub and its client; a shim loads only `./client/index.ts`.
export type { RunTerms } from './client/client.ts';
export { createHubClient } from './client/client.ts';
export { type Judge, weigh } from './gates.ts';
export { Hub } from './hub.ts';
export { openHub, type RunningHub } from './open.ts';
export type { AskedCall } from './read-call.ts';
export { TURN_METHOD } from './read-call.ts';
export type { UnlikeShim } from './shims.ts';
