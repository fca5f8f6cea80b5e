export { listingOf, type ServerListing } from './conversation.ts';
export { probeServer } from './probe-server.ts';
export { remoteNamed } from './remote-address.ts';
