// Kysely for queries that are one statement each. Transactions are those of the engines: on SQLite they never wait,
// on Postgres they are in one place.
import type { CompiledQuery, Dialect, Driver, QueryResult } from 'kysely';

export interface StatementEngine extends Omit<Dialect, 'createDriver'> {
  execute(query: CompiledQuery): Promise<{
    readonly rows: readonly unknown[];
    readonly changed: number;
  }>;
}

/** All statements or none; none when the first one changes nothing. Returns whether they happened. */
export type StoreTransaction = (statements: readonly CompiledQuery[]) => Promise<boolean>;

export function statementDialect(engine: StatementEngine): Dialect {
  return { ...engine, createDriver: () => statementDriver(engine) };
}

function statementDriver(engine: StatementEngine): Driver {
  const connection = {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      const { rows, changed } = await engine.execute(query);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Kysely's types are those of our schema.
      return { rows: rows as R[], numAffectedRows: BigInt(changed) };
    },
    streamQuery: () => {
      throw new Error('Rows are not streamed.');
    },
  };
  const refuse = () => Promise.reject(new Error('Use a transaction of the engine.'));
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  };
}
