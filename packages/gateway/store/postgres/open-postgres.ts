// The gateway's store on a Postgres that several gateways share.
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { GroupedWork } from '../group-work.ts';
import { approvalStore, breakerStore, webhookStore } from '../queries/coordination.ts';
import { keyStore, peopleStore } from '../queries/people.ts';
import { DEFAULT_RETENTION, type Retention, recordQueries } from '../queries/record-queries.ts';
import type { SchemaStep } from '../schema.ts';
import { type StoreTransaction, statementDialect } from '../statement-dialect.ts';
import { queriesOn } from '../tables.ts';
import type { GatewayStore, TurnRecord } from '../types.ts';
import { WRITE_LIMITS } from '../write-limits.ts';
import { postgresBudgets } from './budget-store.ts';
import { openPool, type PostgresDatabase } from './database.ts';
import { channelListener } from './listen.ts';
import { APPROVAL_CHANNEL, migratePostgres, POSTGRES_STEPS } from './migrate.ts';
import { writeRecords } from './write-records.ts';

export interface PostgresStoreOptions {
  readonly url: string;
  readonly retention?: Retention;
  /** How long a write waits for a database that is away. */
  readonly patienceMs?: number;
  /** The steps of the schema; tests add some. */
  readonly steps?: readonly SchemaStep[];
}

export async function openPostgresGatewayStore(
  options: PostgresStoreOptions,
): Promise<GatewayStore> {
  const db = openPool(options.url);
  try {
    await migratePostgres(db, options.steps ?? POSTGRES_STEPS);
  } catch (cause) {
    await db.close();
    throw cause;
  }
  return storeOf(db, options);
}

function storeOf(db: PostgresDatabase, options: PostgresStoreOptions): GatewayStore {
  const { url, retention = DEFAULT_RETENTION, patienceMs = WRITE_LIMITS.patienceMs } = options;
  const queries = queriesOn(postgresDialect(db));
  const budgets = postgresBudgets(db);
  const approvals = channelListener(url, APPROVAL_CHANNEL);
  const records = new GroupedWork<TurnRecord, void>({
    ...WRITE_LIMITS,
    patienceMs,
    run: async (group) => {
      await writeRecords(db, group, Date.now());
      return group.map(() => undefined);
    },
  });
  let isOpen = true;
  return {
    engine: 'postgres',
    keys: keyStore(queries),
    people: peopleStore(queries, transaction(db)),
    budgets,
    records: { write: (record) => records.add(record), ...recordQueries(queries, retention) },
    // A trigger tells of changes, whoever makes them.
    approvals: approvalStore(queries, {
      changed: () => {},
      watch: (changed) => approvals.watch(changed),
    }),
    webhooks: webhookStore(queries, 'skip locked'),
    breakers: breakerStore(queries),
    ping: async () => isOpen && db.ping(),
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      await Promise.all([records.close(), budgets.close(), approvals.close()]);
      await db.close();
    },
  };
}

function transaction(db: PostgresDatabase): StoreTransaction {
  return (statements) =>
    db.transaction(async (client) => {
      for (const [place, { sql, parameters }] of statements.entries()) {
        const { rowCount } = await client.query(sql, parameters);
        if (place === 0 && rowCount === 0) return false;
      }
      return true;
    });
}

function postgresDialect(db: PostgresDatabase) {
  return statementDialect({
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    execute: async ({ sql, parameters, query }) => {
      // Whether a write that was broken off has happened is not known.
      const isRead = query.kind === 'SelectQueryNode';
      const sent = isRead ? db.read(sql, parameters) : db.query(sql, parameters);
      const { rows, rowCount } = await sent;
      return { rows, changed: rowCount ?? 0 };
    },
  });
}
