import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase, POSTGRES_START_MS, type TestDatabase } from '../testing/postgres.ts';
import { describeStore } from '../testing/suite.ts';
import type { GatewayStore } from '../types.ts';
import { openPostgresGatewayStore } from './open-postgres.ts';

let database: TestDatabase;
let store: GatewayStore;
let clear: string;
beforeAll(async () => {
  database = await createTestDatabase();
  store = await openPostgresGatewayStore({ url: database.url });
  const tables = await database.query(
    "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'gateway_schema'",
  );
  // As a replica would: without the trigger that keeps the audit.
  const deletes = tables.map(({ tablename }) => `DELETE FROM ${String(tablename)}`);
  clear = ['SET session_replication_role = replica', ...deletes].join(';');
}, POSTGRES_START_MS);
afterAll(async () => {
  await store.close();
  await database.drop();
});

describeStore('Postgres', async () => ({
  store,
  sql: (text) => database.query(text),
  end: async () => {
    await database.query(clear);
  },
}));
