// A database of this user alone: how its file is made and opened, and its statements prepared.
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import type { Database, OpenOptions, SqliteModule, SqlRow, SqlValue, Statement } from './load.ts';

/** Makes the file for this user alone, and keeps an existing one to that. */
export function makePrivateDatabase(file: string): void {
  // SQLite gives the log and the shared memory beside it the rights of the file.
  closeSync(openSync(file, 'a', 0o600));
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
}

interface OpeningOptions extends Pick<OpenOptions, 'readOnly' | 'timeout' | 'allowExtension'> {
  readonly cacheKib: number;
  readonly setUp: (db: Database) => void;
}

export function openPrivateDatabase(
  { DatabaseSync }: SqliteModule,
  location: string,
  { cacheKib, setUp, ...options }: OpeningOptions,
): Database {
  const db = new DatabaseSync(location, { ...options, enableForeignKeyConstraints: true });
  try {
    db.exec(`PRAGMA cache_size = -${cacheKib}`);
    db.exec('PRAGMA temp_store = MEMORY');
    // A damaged or forged schema must not run anything.
    db.exec('PRAGMA trusted_schema = OFF');
    setUp(db);
    // Reads from the file, so that a damaged one fails here.
    db.prepare('PRAGMA schema_version').get();
  } catch (cause) {
    db.close();
    throw cause;
  }
  return db;
}

/** Combinations of filters make many statements; the oldest are prepared again. */
const STATEMENTS_MAX = 256;

/** A database with its statements, each prepared once. `failure` says what an error is thrown as. */
export function statementsOf(db: Database, failure: (cause: unknown) => unknown) {
  const statements = new Map<string, Statement>();
  const prepare = (sql: string): Statement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const made = db.prepare(sql);
    if (statements.size >= STATEMENTS_MAX) statements.delete(statements.keys().next().value ?? '');
    statements.set(sql, made);
    return made;
  };
  const translated = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      throw failure(cause);
    }
  };
  return {
    exec: (sql: string): void => translated(() => db.exec(sql)),
    all: (sql: string, ...values: SqlValue[]): readonly SqlRow[] =>
      translated(() => prepare(sql).all(...values)),
    get: (sql: string, ...values: SqlValue[]): SqlRow | undefined =>
      translated(() => prepare(sql).get(...values)),
    /** How many rows it changed. Runs for every event, so it makes no closure. */
    run: (sql: string, ...values: SqlValue[]): number => {
      try {
        return Number(prepare(sql).run(...values).changes);
      } catch (cause) {
        throw failure(cause);
      }
    },
    close: (): void => {
      statements.clear();
      // A statement that is not collected yet keeps a closed connection and its view alive.
      if (db.isTransaction) db.exec('ROLLBACK');
      db.close();
    },
  };
}
