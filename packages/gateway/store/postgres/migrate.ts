// Brings a Postgres database to the schema of this version, or says why it can't.
import type { ColumnTypes, SchemaStep } from '../schema.ts';
import { FEWER_INDEXES, FIRST_STEP, USED_APPROVALS } from '../schema.ts';
import { storeFailure } from '../store-failure.ts';
import { BUDGET_FUNCTIONS } from './budget-functions.ts';
import type { PostgresClient, PostgresDatabase } from './database.ts';

const TYPES: ColumnTypes = {
  id: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  int: 'BIGINT',
  flag: 'BOOLEAN',
  json: 'JSONB',
  table: '',
  keyed: '',
};

export const APPROVAL_CHANNEL = 'subluminal_approvals';

const triggers: SchemaStep = () => `
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.event_ms < COALESCE((SELECT max(before_ms) FROM audit_retention), 0) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'audit_event is only added to' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_event_change BEFORE UPDATE OR DELETE ON audit_event
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_event_truncate BEFORE TRUNCATE ON audit_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE FUNCTION tell_approval_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('${APPROVAL_CHANNEL}', '');
  RETURN NULL;
END $$;
CREATE TRIGGER approval_request_change AFTER INSERT OR UPDATE ON approval_request
  FOR EACH STATEMENT EXECUTE FUNCTION tell_approval_change();
`;

export const POSTGRES_STEPS: readonly SchemaStep[] = [
  (types) => FIRST_STEP(types) + BUDGET_FUNCTIONS + triggers(types),
  USED_APPROVALS,
  FEWER_INDEXES,
];

/** Any number that only our migrations use: gateways that start at once wait for each other. */
const MIGRATION_LOCK = 1_937_072_487;

/** The steps that are missing, in one transaction under a lock. */
export async function migratePostgres(
  db: PostgresDatabase,
  steps: readonly SchemaStep[],
): Promise<void> {
  await db.transaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await requireUtf8(client);
    const version = await checkedVersion(client, steps.length);
    for (const [place, step] of steps.entries()) {
      if (place < version) continue;
      await client.query(step(TYPES));
      const add = 'INSERT INTO gateway_schema (version, applied_ms) VALUES ($1, $2)';
      await client.query(add, [place + 1, Date.now()]);
    }
  });
}

/** Another encoding refuses texts of clients, one turn after the other. */
async function requireUtf8(client: PostgresClient): Promise<void> {
  const { rows } = await client.query('SHOW server_encoding');
  const encoding = String(rows[0]?.['server_encoding']);
  if (encoding === 'UTF8') return;
  throw storeFailure('SUB_STORE_UNUSABLE', `It has the encoding ${encoding}, and must have UTF8.`);
}

async function checkedVersion(client: PostgresClient, known: number): Promise<number> {
  await client.query(`CREATE TABLE IF NOT EXISTS gateway_schema (
    version INTEGER PRIMARY KEY, applied_ms BIGINT NOT NULL)`);
  const { rows } = await client.query('SELECT max(version) AS version FROM gateway_schema');
  const version = Number(rows[0]?.['version'] ?? 0);
  if (version > known) {
    const detail = `It has schema ${version}, this version knows ${known}.`;
    throw storeFailure('SUB_STORE_NEWER', detail);
  }
  return version;
}
