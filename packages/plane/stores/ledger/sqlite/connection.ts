// One open database, with its prepared statements.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hasSystemCode, makeFolders } from '../../../os/index.ts';
import { type LedgerCode, ledgerFailure } from '../chain/ledger-failure.ts';
import {
  type Database,
  loadSqlite,
  type SqliteModule,
  type SqlRow,
  type SqlValue,
} from './load.ts';
import { makePrivateDatabase, openPrivateDatabase, statementsOf } from './private-database.ts';

export type Connection = ReturnType<typeof connection>;

export const BUSY_TIMEOUT_MS = 5_000;
/** The writer touches all indexes with every batch; a reader goes through the file once. */
const CACHE_KIB = { writer: 32 * 1024, reader: 8 * 1024 };
const CHECKPOINT_PAGES = 4_000;
const LOG_BYTES_MAX = 64 * 1024 * 1024;

interface ConnectOptions {
  readonly readOnly: boolean;
  /** The file does not grow beyond it; a larger write fails as it does on a full disk. */
  readonly bytesMax?: number | undefined;
  readonly synchronous?: 'off' | 'normal';
}

/** Opens a file that exists. */
export async function connect(file: string, options: ConnectOptions): Promise<Connection> {
  const sqlite = await loadSqlite();
  return translated(file, () => {
    try {
      return connection(file, openDatabase(sqlite, file, options));
    } catch (cause) {
      if (!options.readOnly || !cannotOpen(cause) || hasLog(file)) throw cause;
      // A reader shares memory with the writer through a file beside the ledger. Where that file cannot
      // be made, as on a read-only backup, nobody writes: the ledger is read as it is.
      const frozen = `${pathToFileURL(file).href}?immutable=1`;
      return connection(file, openDatabase(sqlite, frozen, options));
    }
  });
}

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function openDatabase(sqlite: SqliteModule, location: string, options: ConnectOptions): Database {
  const { readOnly } = options;
  return openPrivateDatabase(sqlite, location, {
    readOnly,
    timeout: BUSY_TIMEOUT_MS,
    cacheKib: readOnly ? CACHE_KIB.reader : CACHE_KIB.writer,
    setUp: (db) => setUp(db, options),
  });
}

function setUp(db: Database, { readOnly, bytesMax, synchronous = 'normal' }: ConnectOptions): void {
  if (readOnly) return;
  // A commit survives the death of the process; a power cut may take the last ones. Commits with a
  // signed head are FULL and take everything before them along.
  db.exec(`PRAGMA synchronous = ${synchronous}`);
  // What is moved or deleted is overwritten: pruned text must not stay in the file.
  db.exec('PRAGMA secure_delete = ON');
  // Only a new file takes it: pages that pruning frees can be given back.
  db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  db.exec('PRAGMA journal_mode = WAL');
  // Pages that many commits touch are copied into the file once per checkpoint, not once per MB.
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.exec(`PRAGMA journal_size_limit = ${LOG_BYTES_MAX}`);
  if (bytesMax !== undefined) limitPages(db, bytesMax);
}

function limitPages(db: Database, bytesMax: number): void {
  const pageBytes = Number(db.prepare('PRAGMA page_size').get()?.['page_size']);
  db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(bytesMax / pageBytes))}`);
}

function connection(file: string, db: Database) {
  const statements = statementsOf(db, (cause) => ledgerError(file, cause));
  return {
    file,
    db,
    ...statements,
    /** The row that the statement must give. */
    one: (sql: string, ...values: SqlValue[]): SqlRow => {
      const row = statements.get(sql, ...values);
      if (row !== undefined) return row;
      throw ledgerFailure('SUB_LEDGER_CORRUPT', 'A row is missing.');
    },
  };
}

/** What `work` reads with several statements is from one moment, though another process writes. */
export function inOneView<T>(view: Connection, work: () => T): T {
  if (view.db.isTransaction) return work();
  view.run('BEGIN');
  try {
    return work();
  } finally {
    // Some faults of the disk have ended it already, and are what must be told.
    if (view.db.isTransaction) view.run('COMMIT');
  }
}

/** Makes the file and its folder for this user alone, and keeps an existing file to that. */
export function prepareFile(file: string): void {
  translated(file, () => {
    makeFolder(dirname(file));
    makePrivateDatabase(file);
  });
}

function makeFolder(path: string): void {
  try {
    makeFolders(path);
  } catch (cause) {
    // No ledger is missing here: there is no place for one.
    if (!hasSystemCode(cause, 'ENOENT')) throw cause;
    const folder = cause instanceof Error && 'path' in cause ? String(cause.path) : path;
    throw ledgerFailure('SUB_LEDGER_IO', `The folder ${folder} cannot be made.`, cause);
  }
}

export function requireFile(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return;
  throw ledgerFailure('SUB_LEDGER_MISSING', file);
}

const BUSY = 5;
const READ_ONLY = 8;
const CANT_OPEN = 14;

/** By SQLite's result code, or the error code of the system. */
const CODES: ReadonlyMap<unknown, LedgerCode> = new Map<unknown, LedgerCode>([
  [3, 'SUB_LEDGER_READ_ONLY'], // PERM
  [BUSY, 'SUB_LEDGER_BUSY'],
  [6, 'SUB_LEDGER_BUSY'], // LOCKED
  [READ_ONLY, 'SUB_LEDGER_READ_ONLY'],
  [10, 'SUB_LEDGER_IO'],
  [11, 'SUB_LEDGER_CORRUPT'],
  [13, 'SUB_LEDGER_FULL'],
  [CANT_OPEN, 'SUB_LEDGER_IO'],
  [26, 'SUB_LEDGER_CORRUPT'], // NOTADB
  ['ENOENT', 'SUB_LEDGER_MISSING'],
  ['EACCES', 'SUB_LEDGER_READ_ONLY'],
  ['EPERM', 'SUB_LEDGER_READ_ONLY'],
  ['EROFS', 'SUB_LEDGER_READ_ONLY'],
  ['ENOSPC', 'SUB_LEDGER_FULL'],
  ['EDQUOT', 'SUB_LEDGER_FULL'],
]);
/** We never store a number beyond what JavaScript holds exactly. */
const OUT_OF_RANGE = /too large to be represented/;

/** An error of SQLite or of the file system as a failure. A bug stays what it is. */
function ledgerError(file: string, cause: unknown): unknown {
  const code = cause instanceof Error ? ledgerCode(cause) : undefined;
  if (code === undefined || !(cause instanceof Error)) return cause;
  return ledgerFailure(code, `${file}: ${cause.message}.`, cause);
}

function ledgerCode(cause: Error): LedgerCode | undefined {
  const primary = resultCode(cause);
  if (primary !== undefined) return CODES.get(primary);
  if (OUT_OF_RANGE.test(cause.message)) return 'SUB_LEDGER_CORRUPT';
  if (!('syscall' in cause && 'code' in cause)) return undefined;
  return CODES.get(cause.code) ?? 'SUB_LEDGER_IO';
}

/** The primary result code; the extended one has it in its low byte. */
function resultCode(cause: unknown): number | undefined {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** The file, or what SQLite needs beside it. */
function cannotOpen(cause: unknown): boolean {
  const code = resultCode(cause);
  return code === CANT_OPEN || code === READ_ONLY;
}

/** Runs `work`, and throws its errors as failures of the ledger. */
export function translated<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw ledgerError(file, cause);
  }
}

/**
 * Locks the ledger for its one writer; returns what releases the lock. The lock is an open transaction
 * on an empty database beside the ledger: SQLite locks files on every system in a way that dies with
 * the process, so no crash leaves a stale lock behind, and the ledger itself stays free for readers.
 */
export async function lockWriter(file: string): Promise<() => void> {
  const lockFile = `${file}.lock`;
  prepareFile(lockFile);
  const { DatabaseSync } = await loadSqlite();
  let db: Database | undefined;
  try {
    db = new DatabaseSync(lockFile, { timeout: 0 });
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db?.close();
    if (resultCode(cause) === BUSY) throw ledgerFailure('SUB_LEDGER_LOCKED', file, cause);
    throw ledgerError(lockFile, cause);
  }
  const held = db;
  return () => held.close();
}
