export { connectHttpServer, upstreamFor } from './connect.ts';
export type { HeaderList } from './http-client.ts';
