// A ledger in one SQLite file.
import { randomUUID } from 'node:crypto';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import type { Store, StoreReader, StoreTransaction } from '../store/engine.ts';
import { chainReads } from './chain-reads.ts';
import {
  BUSY_TIMEOUT_MS,
  type Connection,
  connect,
  lockWriter,
  prepareFile,
  requireFile,
  translated,
  type WriterLock,
} from './connection.ts';
import { findRun, policiesOf, rejectsOf, searchRuns, statsOf } from './overview.ts';
import { checkedVersion, MIGRATIONS, migrate } from './schema.ts';
import { findCall, searchCalls } from './search.ts';
import { sqliteTransaction } from './transaction.ts';

const CHECKPOINT_WAIT_MS = 200;

type Synchronous = 'off' | 'normal' | 'full';

export interface SqliteOptions {
  readonly file: string;
  /** The file may not grow beyond it. */
  readonly bytesMax?: number;
  /**
   * `full` syncs every commit, not only those with a head: for machines that lose power. `off`
   * syncs none: for a store that may be lost.
   */
  readonly synchronous?: Synchronous;
  /** The steps of the schema; tests add some. */
  readonly migrations?: readonly string[];
}

/** Opens the ledger for its one writer; makes it when it is not there. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { file, bytesMax, synchronous = 'normal', migrations = MIGRATIONS } = options;
  const lock = await lockWriter(file);
  try {
    prepareFile(file);
    const limit = bytesMax === undefined ? {} : { bytesMax };
    const writer = await connect(file, { readOnly: false, synchronous, ...limit });
    try {
      translated(file, () => migrate(writer.db, { file, migrations }));
      writer.run("INSERT INTO meta VALUES ('ledger_id', ?) ON CONFLICT DO NOTHING", randomUUID());
      emptyLog(writer);
      const reader = await connect(file, { readOnly: true });
      return storeOf({ writer, reader, lock, synchronous, migrations });
    } catch (cause) {
      writer.close();
      throw cause;
    }
  } catch (cause) {
    lock.release();
    throw cause;
  }
}

/** Opens an existing ledger to look at, also while its writer runs. */
export async function openSqliteReader(
  options: Pick<SqliteOptions, 'file' | 'migrations'>,
): Promise<StoreReader> {
  const reader = (await connectReader(options)) ?? (await upgraded(options));
  const { migrations = MIGRATIONS } = options;
  return { ...readsOf(reader, migrations), close: async () => reader.close() };
}

/** Undefined when the ledger has an older schema than ours. */
async function connectReader({
  file,
  migrations = MIGRATIONS,
}: Pick<SqliteOptions, 'file' | 'migrations'>): Promise<Connection | undefined> {
  requireFile(file);
  const reader = await connect(file, { readOnly: true });
  try {
    const version = translated(file, () => checkedVersion(reader.db, { file, migrations }));
    // Whoever made the file did not get any further.
    if (version === 0) throw ledgerFailure('SUB_LEDGER_MISSING', file);
    if (version === migrations.length) return reader;
  } catch (cause) {
    reader.close();
    throw cause;
  }
  reader.close();
  return undefined;
}

/** Our questions are about the newest schema, and only a writer can lead a ledger there. */
async function upgraded(options: Pick<SqliteOptions, 'file' | 'migrations'>): Promise<Connection> {
  await (await openSqliteStore(options)).close();
  const reader = await connectReader(options);
  if (reader === undefined) throw new Error('the schema is older than it was just made');
  return reader;
}

function readsOf(reader: Connection, migrations: readonly string[]): Omit<StoreReader, 'close'> {
  return {
    ...chainReads(reader, migrations),
    calls: async (filter, page) => searchCalls(reader, filter, page),
    call: async (runId, callId) => findCall(reader, runId, callId),
    runs: async (filter, page) => searchRuns(reader, filter, page),
    run: async (runId) => findRun(reader, runId),
    stats: async (filter) => statsOf(reader, filter),
    policies: async (limit) => policiesOf(reader, limit),
    rejects: async (limit) => rejectsOf(reader, limit),
    snapshot: (work) => snapshot(reader.file, migrations, work),
    scratch: () => scratch(reader.file),
  };
}

/** A connection of its own, so that what others read meanwhile is not held back. */
async function snapshot<T>(
  file: string,
  migrations: readonly string[],
  work: (reader: ReturnType<typeof chainReads>) => Promise<T>,
): Promise<T> {
  const connection = await connect(file, { readOnly: true });
  try {
    connection.exec('BEGIN');
    // The view begins with the first read; this one needs no table of ours.
    connection.get('SELECT count(*) FROM main.sqlite_master');
    return await work(chainReads(connection, migrations));
  } finally {
    connection.close();
  }
}

/** Beside the ledger, where there is room for something of its size; else among temporary files. */
async function scratch(file: string): Promise<Store> {
  const base = isWritable(dirname(file)) ? dirname(file) : tmpdir();
  const folder = mkdtempSync(join(base, '.ledger-scratch-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const store = await openSqliteStore({ file: join(folder, 'ledger.db'), synchronous: 'off' });
    return { ...store, close: () => store.close().finally(remove) };
  } catch (cause) {
    remove();
    throw cause;
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

interface StoreConnections {
  readonly writer: Connection;
  readonly reader: Connection;
  readonly lock: WriterLock;
  readonly synchronous: Synchronous;
  readonly migrations: readonly string[];
}

function storeOf({ writer, reader, lock, synchronous, migrations }: StoreConnections): Store {
  let current = synchronous;
  /** It cannot change inside of a transaction. */
  const setLevel = (level: Synchronous) => {
    if (level === current) return;
    writer.exec(`PRAGMA synchronous = ${level}`);
    current = level;
  };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    ...readsOf(reader, migrations),
    transaction: (work, options = {}) =>
      inTurn(() => {
        const level = synchronous === 'normal' && options.durable === true ? 'full' : synchronous;
        setLevel(level);
        return transact(writer, migrations, work);
      }),
    compact: () => inTurn(async () => compact(writer)),
    close: () =>
      inTurn(async () => {
        reader.close();
        try {
          // Everything into the one file: a copy of it is then the whole ledger.
          emptyLog(writer);
        } finally {
          writer.close();
          lock.release();
        }
      }),
  };
}

async function transact<T>(
  writer: Connection,
  migrations: readonly string[],
  work: (transaction: StoreTransaction) => Promise<T>,
): Promise<T> {
  writer.run('BEGIN IMMEDIATE');
  try {
    const result = await work(sqliteTransaction(writer, migrations));
    writer.run('COMMIT');
    return result;
  } catch (cause) {
    // A full disk has already rolled back.
    if (writer.db.isTransaction) writer.exec('ROLLBACK');
    throw cause;
  }
}

function compact(writer: Connection): void {
  writer.exec('PRAGMA incremental_vacuum');
  checkpoint(writer);
}

/**
 * At the start, too: a ledger whose log is lost then lacks its last events, which is found, and
 * does not look as if it had never been.
 */
function emptyLog(writer: Connection): void {
  try {
    checkpoint(writer);
  } catch {
    // The log holds what did not fit; whoever writes next reads it.
  }
}

/** Empties the log into the file, as far as readers let it; the next one gets the rest. */
function checkpoint(writer: Connection): void {
  writer.exec(`PRAGMA busy_timeout = ${CHECKPOINT_WAIT_MS}`);
  writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  writer.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
}
