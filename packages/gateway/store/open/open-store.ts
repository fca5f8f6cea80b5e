// Opens the gateway's store: a SQLite file, or a Postgres that several gateways share.
import { failure, ThrownFailure } from '@subluminal/contracts';
import { DEFAULT_RETENTION, type Retention } from '../queries/record-queries.ts';
import type { GatewayStore } from '../types.ts';

const POSTGRES_URL = /^postgres(?:ql)?:/i;
/** A drive of Windows has one letter. */
const OTHER_URL = /^[a-z][a-z\d+.-]+:/i;

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
  // Taken for a path, it would become a new and empty database.
  if (OTHER_URL.test(database)) {
    const message = 'The database is neither `postgres://…` nor the path of a SQLite file.';
    const fix = 'Write one of them; a path has no `sqlite:` before it.';
    throw new ThrownFailure(failure('SUB_STORE_UNUSABLE', message, fix));
  }
  const { openSqliteGatewayStore } = await import('../sqlite/open-sqlite.ts');
  return openSqliteGatewayStore({ file: database, retention });
}
