// What a shim loads, and only when its run has a hub.
export { createHubClient } from './client.ts';
export type { Evaluated, HubClient, HubReadiness, Loss, RunTerms } from './types.ts';
