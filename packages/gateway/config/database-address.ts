// Where the database of a gateway is, as its store wants it: the path of a file, or a URL of Postgres.
import { join, resolve } from 'node:path';
import type { GatewayConfig } from './types.ts';

const DATABASE_FILE = 'gateway.db';

/** Undefined when the reference to the URL could not be resolved, which a load for a start refuses. */
export function databaseAddress(
  { settings: { database }, secrets }: GatewayConfig,
  home: string,
): string | undefined {
  if (database === null) return join(home, DATABASE_FILE);
  const url = 'url' in database ? database.url : secrets.get(database.urlRef);
  // A relative path starts in the home, wherever the gateway is started.
  return url?.startsWith('sqlite:') ? resolve(home, url.slice('sqlite:'.length)) : url;
}
