export type { RemoteStart } from '../remote-server/index.ts';
export { listingOf, type ServerListing } from './conversation.ts';
export { probeServer } from './probe-server.ts';
export { remoteNamed } from './remote-address.ts';
