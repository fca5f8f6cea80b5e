export { listingOf, type ServerListing } from './conversation.ts';
export { probeServer } from './probe-server.ts';
export { remoteAddress } from './remote-address.ts';
