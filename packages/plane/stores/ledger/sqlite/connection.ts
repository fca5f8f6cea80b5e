// One open database, with its prepared statements.
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hasSystemCode, makeFolders } from '../../../os/index.ts';
import { type LedgerCode, ledgerFailure } from '../chain/ledger-failure.ts';
import {
  type Database,
  loadSqlite,
  type SqliteModule,
  type SqlValue,
  type Statement,
} from './load.ts';

export interface Connection {
  readonly file: string;
  exec(sql: string): void;
  /** Rows of a prepared statement. */
  all(sql: string, ...values: SqlValue[]): readonly unknown[];
  get(sql: string, ...values: SqlValue[]): unknown;
  /** How many rows it changed. */
  run(sql: string, ...values: SqlValue[]): number;
  readonly db: Database;
  close(): void;
}

export const BUSY_TIMEOUT_MS = 5_000;
/** Combinations of filters make many statements; the oldest are prepared again. */
const STATEMENTS_MAX = 256;
/** The writer touches all indexes with every batch; who reads goes through once. */
const CACHE_KIB = { writer: 32 * 1024, reader: 8 * 1024 };
const CHECKPOINT_PAGES = 4_000;
const LOG_BYTES_MAX = 64 * 1024 * 1024;

interface ConnectOptions {
  readonly readOnly: boolean;
  /** Holds for the file as a whole; a write beyond it fails as a full disk does. */
  readonly bytesMax?: number;
  readonly synchronous?: 'off' | 'normal' | 'full';
}

/** Opens a file that exists. */
export async function connect(file: string, options: ConnectOptions): Promise<Connection> {
  const sqlite = await loadSqlite();
  return translated(file, () => {
    try {
      return connection(file, openDatabase(sqlite, file, options));
    } catch (cause) {
      if (!options.readOnly || !cannotOpen(cause) || hasLog(file)) throw cause;
      // A reader shares memory with the writer by a file beside the ledger. Where none can be made,
      // on a backup that may only be read, nobody writes: the file is then taken as it is.
      const frozen = `${pathToFileURL(file).href}?immutable=1`;
      return connection(file, openDatabase(sqlite, frozen, options));
    }
  });
}

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function openDatabase(sqlite: SqliteModule, location: string, options: ConnectOptions): Database {
  const db = new sqlite.DatabaseSync(location, {
    readOnly: options.readOnly,
    timeout: BUSY_TIMEOUT_MS,
    enableForeignKeyConstraints: true,
  });
  try {
    setUp(db, options);
    // The first look into the file, so that what is wrong with it shows here.
    db.prepare('PRAGMA schema_version').get();
  } catch (cause) {
    db.close();
    throw cause;
  }
  return db;
}

function setUp(db: Database, { readOnly, bytesMax, synchronous = 'normal' }: ConnectOptions): void {
  db.exec(`PRAGMA cache_size = -${readOnly ? CACHE_KIB.reader : CACHE_KIB.writer}`);
  db.exec('PRAGMA temp_store = MEMORY');
  // A damaged or forged schema must not run anything.
  db.exec('PRAGMA trusted_schema = OFF');
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
  const row: unknown = db.prepare('PRAGMA page_size').get();
  const pageBytes =
    typeof row === 'object' && row !== null && 'page_size' in row ? row.page_size : 0;
  const pages = Math.max(1, Math.floor(bytesMax / Number(pageBytes)));
  db.exec(`PRAGMA max_page_count = ${pages}`);
}

function connection(file: string, db: Database): Connection {
  const statements = new Map<string, Statement>();
  const prepare = (sql: string): Statement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const made = db.prepare(sql);
    if (statements.size >= STATEMENTS_MAX) statements.delete(statements.keys().next().value ?? '');
    statements.set(sql, made);
    return made;
  };
  return {
    file,
    db,
    exec: (sql) => translated(file, () => db.exec(sql)),
    all: (sql, ...values) => translated(file, () => prepare(sql).all(...values)),
    get: (sql, ...values) => translated(file, () => prepare(sql).get(...values)),
    // Called for every event: no closure.
    run: (sql, ...values) => {
      try {
        return Number(prepare(sql).run(...values).changes);
      } catch (cause) {
        throw ledgerError(file, cause);
      }
    },
    close: () => {
      statements.clear();
      // A statement that is not collected yet keeps a closed connection and its view alive.
      if (db.isTransaction) db.exec('ROLLBACK');
      db.close();
    },
  };
}

/** Makes the file and its folder for this user alone, and keeps an existing file to that. */
export function prepareFile(file: string): void {
  translated(file, () => {
    makeFolder(dirname(file));
    // SQLite gives the log and the shared memory beside it the rights of the file.
    closeSync(openSync(file, 'a', 0o600));
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
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

// SQLite's result codes in our words.

const BY_CODE: ReadonlyMap<number, LedgerCode> = new Map([
  [3, 'SUB_LEDGER_READ_ONLY'], // PERM
  [5, 'SUB_LEDGER_BUSY'],
  [6, 'SUB_LEDGER_BUSY'], // LOCKED
  [8, 'SUB_LEDGER_READ_ONLY'],
  [10, 'SUB_LEDGER_IO'],
  [11, 'SUB_LEDGER_CORRUPT'],
  [13, 'SUB_LEDGER_FULL'],
  [14, 'SUB_LEDGER_IO'], // CANTOPEN
  [26, 'SUB_LEDGER_CORRUPT'], // NOTADB
]);
const BY_ERRNO: ReadonlyMap<string, LedgerCode> = new Map([
  ['ENOENT', 'SUB_LEDGER_MISSING'],
  ['EACCES', 'SUB_LEDGER_READ_ONLY'],
  ['EPERM', 'SUB_LEDGER_READ_ONLY'],
  ['EROFS', 'SUB_LEDGER_READ_ONLY'],
  ['ENOSPC', 'SUB_LEDGER_FULL'],
  ['EDQUOT', 'SUB_LEDGER_FULL'],
]);
const BUSY = 5;
const READ_ONLY = 8;
const CANT_OPEN = 14;
/** We never store a number beyond what JavaScript holds exactly. */
const OUT_OF_RANGE = /too large to be represented/;

/** What SQLite or the file system threw, as an error that says what to do. Bugs stay what they are. */
function ledgerError(file: string, cause: unknown): unknown {
  const code = ledgerCode(cause);
  if (code === undefined || !(cause instanceof Error)) return cause;
  return ledgerFailure(code, `${file}: ${cause.message}.`, cause);
}

function ledgerCode(cause: unknown): LedgerCode | undefined {
  const primary = resultCode(cause);
  if (primary !== undefined) return BY_CODE.get(primary);
  if (cause instanceof Error && OUT_OF_RANGE.test(cause.message)) return 'SUB_LEDGER_CORRUPT';
  const errno = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (typeof errno !== 'string' || !('syscall' in Object(cause))) return undefined;
  return BY_ERRNO.get(errno) ?? 'SUB_LEDGER_IO';
}

/** The primary result code; the extended one has it in its low byte. */
function resultCode(cause: unknown): number | undefined {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

function isBusy(cause: unknown): boolean {
  return resultCode(cause) === BUSY;
}

/** The file, or what SQLite needs beside it. */
function cannotOpen(cause: unknown): boolean {
  const code = resultCode(cause);
  return code === CANT_OPEN || code === READ_ONLY;
}

/** Runs `work`, with what it throws made clear. */
export function translated<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw ledgerError(file, cause);
  }
}

// One writer per ledger. The operating system holds the lock for as long as the process lives, so
// that no crash leaves a stale one behind.

export interface WriterLock {
  release(): void;
}

/**
 * The lock is an open transaction on an empty database beside the ledger: SQLite locks files on
 * every system in a way that dies with the process, and the ledger itself stays free for readers.
 */
export async function lockWriter(file: string): Promise<WriterLock> {
  const lockFile = `${file}.lock`;
  prepareFile(lockFile);
  const { DatabaseSync } = await loadSqlite();
  let db: Database | undefined;
  try {
    db = new DatabaseSync(lockFile, { timeout: 0 });
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db?.close();
    if (isBusy(cause)) throw ledgerFailure('SUB_LEDGER_LOCKED', file, cause);
    throw ledgerError(lockFile, cause);
  }
  const held = db;
  return { release: () => held.close() };
}
