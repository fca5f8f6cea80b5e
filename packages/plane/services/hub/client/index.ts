// What a shim loads, and only when its run has a hub.
export type { Evaluated, HubClient, HubReadiness, ReturnedLeases, RunTerms } from './client.ts';
export { createHubClient } from './client.ts';
export type { Loss } from './heartbeat.ts';
