// The gateway's store in one SQLite file: for one gateway, with no other service.
import type { SqlValue } from '@subluminal/plane/sqlite';
import { type CompiledQuery, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { GroupedWork } from '../group-work.ts';
import { approvalStore, breakerStore, webhookStore } from '../queries/coordination.ts';
import { keyStore, peopleStore } from '../queries/people.ts';
import { DEFAULT_RETENTION, type Retention, recordQueries } from '../queries/record-queries.ts';
import type { SchemaStep } from '../schema.ts';
import { type StoreTransaction, statementDialect } from '../statement-dialect.ts';
import { queriesOn } from '../tables.ts';
import type { BudgetStore, GatewayStore, Reservation, Reserved, TurnRecord } from '../types.ts';
import { WRITE_LIMITS } from '../write-limits.ts';
import { counterStates, expire, renew, reserveAll } from './budget-counters.ts';
import { openDatabase, type SqliteDatabase } from './database.ts';
import { migrateSqlite, SQLITE_STEPS } from './migrate.ts';
import { writeRecords } from './write-records.ts';

export interface SqliteStoreOptions {
  readonly file: string;
  readonly retention?: Retention;
  /** How long a write waits for a file that is locked or a disk that is full. */
  readonly patienceMs?: number;
  /** How long one statement waits for a file that another process has locked. */
  readonly busyMs?: number;
  /** The steps of the schema; tests add some. */
  readonly steps?: readonly SchemaStep[];
}

export async function openSqliteGatewayStore(options: SqliteStoreOptions): Promise<GatewayStore> {
  const db = await openDatabase(options.file, { busyMs: options.busyMs });
  try {
    migrateSqlite(db, options.steps ?? SQLITE_STEPS);
  } catch (cause) {
    db.close();
    throw cause;
  }
  return storeOf(db, options);
}

function storeOf(db: SqliteDatabase, options: SqliteStoreOptions): GatewayStore {
  const { retention = DEFAULT_RETENTION, patienceMs = WRITE_LIMITS.patienceMs } = options;
  const queries = queriesOn(sqliteDialect(db));
  const records = new GroupedWork<TurnRecord, void>({
    ...WRITE_LIMITS,
    patienceMs,
    run: async (group) => {
      writeRecords(db, group, Date.now());
      return group.map(() => undefined);
    },
  });
  const reservations = new GroupedWork<Reservation, Reserved>({
    ...WRITE_LIMITS,
    // A turn that can't be reserved now is refused now.
    patienceMs: 0,
    run: async (group) => reserveAll(db, group),
  });
  const watchers = new Set<() => void>();
  let isOpen = true;
  return {
    engine: 'sqlite',
    keys: keyStore(queries),
    people: peopleStore(queries, transaction(db)),
    budgets: budgetStore(db, reservations),
    records: { write: (record) => records.add(record), ...recordQueries(queries, retention) },
    approvals: approvalStore(queries, {
      changed: () => {
        for (const changed of watchers) changed();
      },
      watch: async (changed) => {
        // Its own function each time: one that watches twice ends twice.
        const watcher = () => changed();
        watchers.add(watcher);
        return async () => {
          watchers.delete(watcher);
        };
      },
    }),
    webhooks: webhookStore(queries, 'none'),
    breakers: breakerStore(queries),
    ping: async () => isOpen && db.get('SELECT 1') !== undefined,
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      await reservations.close();
      await records.close();
      db.close();
    },
  };
}

function budgetStore(
  db: SqliteDatabase,
  reservations: GroupedWork<Reservation, Reserved>,
): BudgetStore {
  return {
    states: async (tenantId, limits) => counterStates(db, tenantId, limits),
    reserve: (reservation) => reservations.add(reservation),
    renew: async (ids, nowMs) => renew(db, ids, nowMs),
    expire: async (olderThanMs, nowMs) => expire(db, olderThanMs, nowMs),
  };
}

function transaction(db: SqliteDatabase): StoreTransaction {
  return async (statements) =>
    db.transaction(() => {
      for (const [place, { sql, parameters }] of statements.entries()) {
        const changed = db.run(sql, ...parameters.map(sqlValue));
        if (place === 0 && changed === 0) return false;
      }
      return true;
    }, true);
}

function sqliteDialect(db: SqliteDatabase) {
  return statementDialect({
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    execute: async (query) => {
      const values = query.parameters.map(sqlValue);
      return givesRows(query)
        ? { rows: db.all(query.sql, ...values), changed: 0 }
        : { rows: [], changed: db.run(query.sql, ...values) };
    },
  });
}

function givesRows({ query }: CompiledQuery): boolean {
  switch (query.kind) {
    case 'InsertQueryNode':
    case 'UpdateQueryNode':
    case 'DeleteQueryNode':
      return query.returning !== undefined;
    default:
      return true;
  }
}

function sqlValue(value: unknown): SqlValue {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value;
  throw new TypeError(`A ${typeof value} is no value for SQLite.`);
}
