// One open SQLite database of the gateway, with its prepared statements.
import { dirname } from 'node:path';
import { errorText, makeFolders } from '@subluminal/plane/os';
import { type Database, loadSqlite } from '@subluminal/plane/sqlite';
import {
  makePrivateDatabase,
  openPrivateDatabase,
  statementsOf,
} from '@subluminal/plane/sqlite/private-database';
import { type StoreCode, storeFailure } from '../store-failure.ts';

/** It blocks the whole gateway; a write is tried again anyway. */
const BUSY_MS = 500;
/** The ends of all tables and indexes, for hundreds of users. With four times as much, 80,000 turns of 500 users took as long. */
const CACHE_KIB = 8 * 1024;

export type SqliteDatabase = ReturnType<typeof sqliteDatabase>;

export interface DatabaseOptions {
  readonly busyMs?: number | undefined;
  readonly cacheKib?: number;
  /** Runs before anything else is read; with it, extensions may be loaded. */
  readonly setUp?: (db: Database) => void;
}

/** Opens the file, for this user alone, and makes it when it is not there. */
export async function openDatabase(file: string, options: DatabaseOptions = {}) {
  const { busyMs = BUSY_MS, cacheKib = CACHE_KIB } = options;
  const sqlite = await loadSqlite();
  return translated(file, () => {
    makeFolders(dirname(file));
    makePrivateDatabase(file);
    const setUp = (db: Database) => {
      db.exec('PRAGMA journal_mode = WAL');
      // A commit survives the death of the process. Records survive a power cut too: see `transaction`.
      db.exec('PRAGMA synchronous = NORMAL');
      options.setUp?.(db);
    };
    const allowExtension = options.setUp !== undefined;
    const opening = { timeout: busyMs, cacheKib, allowExtension, setUp };
    return sqliteDatabase(file, openPrivateDatabase(sqlite, file, opening));
  });
}

function sqliteDatabase(file: string, db: Database) {
  return {
    file,
    ...statementsOf(db, (cause) => storeError(file, cause)),
    /**
     * All of `work` or nothing. It never waits for anything, so that nothing comes in between.
     * `isSynced`: on the disk before it returns.
     */
    transaction: <T>(work: () => T, isSynced = false): T =>
      translated(file, () => {
        if (isSynced) db.exec('PRAGMA synchronous = FULL');
        try {
          db.exec('BEGIN IMMEDIATE');
          const result = work();
          db.exec('COMMIT');
          return result;
        } catch (cause) {
          if (db.isTransaction) db.exec('ROLLBACK');
          throw cause;
        } finally {
          if (isSynced) db.exec('PRAGMA synchronous = NORMAL');
        }
      }),
    /** What `work` reads is of one moment, and costs one lock. */
    snapshot: <T>(work: () => T): T =>
      translated(file, () => {
        db.exec('BEGIN');
        try {
          return work();
        } finally {
          if (db.isTransaction) db.exec('COMMIT');
        }
      }),
  };
}

/** By SQLite's primary result code. What is not here can't be helped by waiting. */
const CODES: ReadonlyMap<number, StoreCode> = new Map<number, StoreCode>([
  [5, 'SUB_STORE_DOWN'], // BUSY
  [6, 'SUB_STORE_DOWN'], // LOCKED
  [10, 'SUB_STORE_DOWN'], // IOERR
  [13, 'SUB_STORE_DOWN'], // FULL
  [14, 'SUB_STORE_DOWN'], // CANTOPEN
  [8, 'SUB_STORE_DOWN'], // READONLY
  [11, 'SUB_STORE_UNUSABLE'], // CORRUPT
  [26, 'SUB_STORE_UNUSABLE'], // NOTADB
  [18, 'SUB_STORE_REFUSED'], // TOOBIG
  [19, 'SUB_STORE_REFUSED'], // CONSTRAINT
]);

function translated<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw storeError(file, cause);
  }
}

/** An error of SQLite or of the file system as a failure. A bug stays what it is. */
function storeError(file: string, cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const code = codeOf(cause);
  return code === undefined ? cause : storeFailure(code, `${file}: ${errorText(cause)}.`, cause);
}

function codeOf(cause: Error): StoreCode | undefined {
  // The extended code has the primary one in its low byte.
  if ('errcode' in cause && typeof cause.errcode === 'number')
    return CODES.get(cause.errcode & 0xff);
  return 'syscall' in cause ? 'SUB_STORE_DOWN' : undefined;
}
