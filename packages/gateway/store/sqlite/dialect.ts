// Kysely on the SQLite API of Node. Every query is one statement: transactions are those of `database.ts`, which
// never wait.

import type { SqlValue } from '@subluminal/plane/sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { SqliteDatabase } from './database.ts';

export function nodeSqliteDialect(db: SqliteDatabase): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver(connection(db)),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function driver(only: DatabaseConnection): Driver {
  const refuse = () => Promise.reject(new Error('Use the transactions of database.ts.'));
  return {
    init: async () => {},
    acquireConnection: async () => only,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  };
}

function connection(db: SqliteDatabase): DatabaseConnection {
  return {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      const values = query.parameters.map(sqlValue);
      if (givesRows(query)) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Kysely's types are those of our schema.
        return { rows: db.all(query.sql, ...values) as R[] };
      }
      return { rows: [], numAffectedRows: BigInt(db.run(query.sql, ...values)) };
    },
    // oxlint-disable-next-line require-yield -- Kysely asks for it; nobody streams from SQLite.
    streamQuery: async function* () {
      throw new Error('Rows are not streamed.');
    },
  };
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
