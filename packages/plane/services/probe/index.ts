export type { ProbeFailure, ProbeOptions, ProbeResult } from './probe-server.ts';
export { probeServer } from './probe-server.ts';
export type { Seen } from './seen.ts';
export { listingOf } from './seen.ts';
