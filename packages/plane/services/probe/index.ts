export type { ServerListing } from './conversation.ts';
export { listingOf } from './conversation.ts';
export type { ProbeFailure, ProbeOptions, ProbeResult } from './probe-server.ts';
export { probeServer } from './probe-server.ts';
