export type { RemoteStart } from '../remote-server/index.ts';
export { listingOf, type ServerListing } from './conversation.ts';
export { type ProbeOptions, probeServer } from './probe-server.ts';
export { remoteNamed } from './remote-address.ts';
