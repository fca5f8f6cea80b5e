// Opens the gateway's store: a SQLite file, or a Postgres that several gateways share.
import { DEFAULT_RETENTION, type Retention } from '../queries/record-queries.ts';
import type { GatewayStore } from '../types.ts';

const POSTGRES_URL = /^postgres(?:ql)?:/i;

export interface GatewayStoreOptions {
  /** The path of a SQLite file, or `postgres://…`. */
  readonly database: string;
  readonly retention?: Retention;
}

/** Brings the database to the schema of this version. The engine that is not used is not loaded. */
export async function openGatewayStore(options: GatewayStoreOptions): Promise<GatewayStore> {
  const { database, retention = DEFAULT_RETENTION } = options;
  if (POSTGRES_URL.test(database)) {
    const { openPostgresGatewayStore } = await import('../postgres/open-postgres.ts');
    return openPostgresGatewayStore({ url: database, retention });
  }
  const { openSqliteGatewayStore } = await import('../sqlite/open-sqlite.ts');
  return openSqliteGatewayStore({ file: database, retention });
}
