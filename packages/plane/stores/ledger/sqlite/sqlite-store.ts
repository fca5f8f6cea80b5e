// A ledger in one SQLite file.
import { randomUUID } from 'node:crypto';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { attempt } from '../../../os/index.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import type { Projection } from '../store/projection.ts';
import type {
  CallFilter,
  HistogramRequest,
  PageRequest,
  RunFilter,
  ServerNoticesQuery,
  ServerSeriesQuery,
  TimeRange,
  TurnCostsQuery,
  TurnTotalsQuery,
} from '../store/query.ts';
import { callHistogram, runActivity } from './call-times.ts';
import { type ChainReader, chainReads } from './chain-reads.ts';
import {
  BUSY_TIMEOUT_MS,
  type Connection,
  connect,
  inOneView,
  lockWriter,
  prepareFile,
  requireFile,
  translated,
} from './connection.ts';
import { linesToPack } from './line-blocks.ts';
import {
  findRun,
  policiesOf,
  rejectsOf,
  ruleHitsOf,
  searchRuns,
  sizeOf,
  statsOf,
} from './overview.ts';
import { renewRows } from './renew-rows.ts';
import { checkedVersion, MIGRATIONS, migrate, WITHOUT_INDEXES } from './schema.ts';
import { callsNamed, findCall, type NamedCalls, searchCalls } from './search.ts';
import {
  lastRiskClasses,
  serverClients,
  serverNotices,
  serverSeries,
  serverUse,
} from './server-usage.ts';
import { type StoreTransaction, sqliteTransaction } from './transaction.ts';
import { turnCosts, turnTotals } from './turn-totals.ts';

const CHECKPOINT_WAIT_MS = 200;

export interface SqliteOptions {
  readonly file: string;
  /** The file may not grow beyond it. */
  readonly bytesMax?: number;
  /** `off` syncs no commit: for a store that may be lost. */
  readonly synchronous?: 'off' | 'normal';
  /** The steps of the schema; tests add some. */
  readonly migrations?: readonly string[];
}

export type Store = ReturnType<typeof storeOf>;
export type StoreReader = ReturnType<typeof readerOf>;

/** Opens the ledger for its one writer; makes it when it is not there. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { file, bytesMax, synchronous = 'normal', migrations = MIGRATIONS } = options;
  const unlock = await lockWriter(file);
  try {
    prepareFile(file);
    const writer = await connect(file, { readOnly: false, synchronous, bytesMax });
    try {
      translated(file, () => migrate(writer.db, { file, migrations }));
      writer.run("INSERT INTO meta VALUES ('ledger_id', ?) ON CONFLICT DO NOTHING", randomUUID());
      emptyLog(writer);
      const reader = await connect(file, { readOnly: true });
      return storeOf({ writer, reader, unlock, synchronous, migrations });
    } catch (cause) {
      writer.close();
      throw cause;
    }
  } catch (cause) {
    unlock();
    throw cause;
  }
}

/** Opens an existing ledger to look at, also while its writer runs. */
export async function openSqliteReader(
  options: Pick<SqliteOptions, 'file' | 'migrations'> & {
    /** Told when the ledger must be upgraded first, which may take a while. */
    readonly notice?: ((message: string) => void) | undefined;
  },
): Promise<StoreReader> {
  const { file, migrations = MIGRATIONS } = options;
  requireFile(file);
  const reader = await connect(file, { readOnly: true });
  try {
    const version = translated(file, () => checkedVersion(reader.db, { file, migrations }));
    // The process that made the file did not get any further.
    if (version === 0) throw ledgerFailure('SUB_LEDGER_MISSING', file);
    if (version === migrations.length) return readerOf(reader, migrations);
  } catch (cause) {
    reader.close();
    throw cause;
  }
  reader.close();
  // Our questions are about the newest schema, and only a writer can lead a ledger there.
  const store = await openSqliteStore(options);
  try {
    await store.transaction((transaction) => renewRows(transaction, options.notice));
  } finally {
    await store.close();
  }
  return openSqliteReader(options);
}

/** Throws when the file is no ledger that this version knows. It is only read. */
export async function requireLedger(file: string): Promise<void> {
  requireFile(file);
  const reader = await connect(file, { readOnly: true });
  try {
    const version = translated(file, () =>
      checkedVersion(reader.db, { file, migrations: MIGRATIONS }),
    );
    if (version === 0) throw ledgerFailure('SUB_LEDGER_MISSING', file);
  } finally {
    reader.close();
  }
}

function readerOf(reader: Connection, migrations: readonly string[]) {
  return {
    ...chainReads(reader, migrations),
    calls: (filter: CallFilter, page: PageRequest) => searchCalls(reader, filter, page),
    /** The calls whose id is this one, or begins or ends so; the newest first. */
    callsNamed: async (id: string, which: NamedCalls) => callsNamed(reader, id, which),
    call: async (runId: string, callId: string) =>
      inOneView(reader, () => findCall(reader, runId, callId)),
    runs: async (filter: RunFilter, page: PageRequest) => searchRuns(reader, filter, page),
    turnTotals: async (query: TurnTotalsQuery) => turnTotals(reader, query),
    turnCosts: async (query: TurnCostsQuery) => turnCosts(reader, query),
    histogram: (filter: CallFilter, request: HistogramRequest) =>
      callHistogram(reader, filter, request),
    activity: async (runIds: readonly string[], parts: number) =>
      runActivity(reader, runIds, parts),
    size: async () => sizeOf(reader),
    run: async (runId: string) => findRun(reader, runId),
    serverUse: (range: TimeRange) => serverUse(reader, range),
    serverClients: async (range: TimeRange) => serverClients(reader, range),
    serverSeries: async (query: ServerSeriesQuery) => serverSeries(reader, query),
    serverNotices: async (query: ServerNoticesQuery) =>
      inOneView(reader, () => serverNotices(reader, query)),
    /** Of the last call of a tool. */
    riskClasses: async (server: string, tool: string) => lastRiskClasses(reader, server, tool),
    stats: async (range: Pick<CallFilter, 'fromMs' | 'toMs'>) => statsOf(reader, range),
    policies: async (limit: number) => policiesOf(reader, limit),
    ruleHits: async (fromMs: number) => ruleHitsOf(reader, fromMs),
    rejects: async (limit: number) => rejectsOf(reader, limit),
    /** Runs `work` on one unchanging view of everything. */
    snapshot: <T>(work: (view: ChainReader) => Promise<T>) =>
      snapshot(reader.file, migrations, work),
    scratch: () => openScratch(reader.file),
    close: async () => reader.close(),
  };
}

/** A connection of its own, so that what others read meanwhile is not held back. */
async function snapshot<T>(
  file: string,
  migrations: readonly string[],
  work: (view: ChainReader) => Promise<T>,
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

/** An empty store that leaves nothing behind when it is closed. */
export interface Scratch extends Pick<ChainReader, 'rows'> {
  merge(projection: Projection): Promise<void>;
  close(): Promise<void>;
}

/** Beside the ledger, where there is room for something of its size; else among temporary files. */
async function openScratch(file: string): Promise<Scratch> {
  const base = isWritable(dirname(file)) ? dirname(file) : tmpdir();
  const folder = mkdtempSync(join(base, '.ledger-scratch-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const store = await openSqliteStore({
      file: join(folder, 'ledger.db'),
      synchronous: 'off',
      migrations: [...MIGRATIONS, WITHOUT_INDEXES],
    });
    return {
      rows: store.rows,
      merge: (projection) => store.transaction((transaction) => transaction.merge(projection)),
      close: () => store.close().finally(remove),
    };
  } catch (cause) {
    remove();
    throw cause;
  }
}

function isWritable(folder: string): boolean {
  return attempt(() => accessSync(folder, constants.W_OK) === undefined) ?? false;
}

interface StoreConnections {
  readonly writer: Connection;
  readonly reader: Connection;
  readonly unlock: () => void;
  readonly synchronous: 'off' | 'normal';
  readonly migrations: readonly string[];
}

function storeOf({ writer, reader, unlock, synchronous, migrations }: StoreConnections) {
  let level: string = synchronous;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    ...readerOf(reader, migrations),
    /** One after the other, in the order of the calls. A `durable` one is on disk when it resolves. */
    transaction: <T>(
      work: (transaction: StoreTransaction) => Promise<T>,
      { durable = false }: { readonly durable?: boolean } = {},
    ): Promise<T> =>
      inTurn(() => {
        const wanted = synchronous === 'normal' && durable ? 'full' : synchronous;
        // The level cannot change inside of a transaction.
        if (wanted !== level) writer.exec(`PRAGMA synchronous = ${wanted}`);
        level = wanted;
        return transact(writer, () => work(sqliteTransaction(writer, migrations)));
      }),
    /** What is committed by now. */
    linesToPack: async () => inOneView(reader, () => linesToPack(reader)),
    /** Gives unused space back to the system. */
    compact: () =>
      inTurn(async () => {
        writer.exec('PRAGMA incremental_vacuum');
        checkpoint(writer);
      }),
    close: () =>
      inTurn(async () => {
        reader.close();
        // Everything into the one file: a copy of it is then the whole ledger.
        emptyLog(writer);
        writer.close();
        unlock();
      }),
  };
}

async function transact<T>(writer: Connection, work: () => Promise<T>): Promise<T> {
  writer.run('BEGIN IMMEDIATE');
  try {
    const result = await work();
    writer.run('COMMIT');
    return result;
  } catch (cause) {
    // A full disk has already rolled back.
    if (writer.db.isTransaction) writer.exec('ROLLBACK');
    throw cause;
  }
}

/**
 * At the start, too: a ledger whose log is lost then lacks its last events, which is found, and
 * does not look as if it had never been. When it fails, the log stays for the next writer.
 */
function emptyLog(writer: Connection): void {
  attempt(() => checkpoint(writer));
}

/** Empties the log into the file, as far as readers let it; the next checkpoint gets the rest. */
function checkpoint(writer: Connection): void {
  writer.exec(`PRAGMA busy_timeout = ${CHECKPOINT_WAIT_MS}`);
  writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  writer.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
}
