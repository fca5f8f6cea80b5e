// The connections to a Postgres that several gateways share.
import { setTimeout as wait } from 'node:timers/promises';
import { errorText } from '@subluminal/plane/os';
import { type ClientConfig, Pool, type PoolClient, TypeOverrides, types } from 'pg';
import { isStoreDown, type StoreCode, storeFailure } from '../store-failure.ts';

const CONNECTIONS_MAX = 10;
/** For a connection, and for a database that restarts: who asks meanwhile waits so long, and then hears of it. */
const CONNECT_MS = 5_000;
const FIRST_PAUSE_MS = 25;
const PAUSE_MS_MAX = 400;
const PING_MS = 2_000;
const STATEMENT_MS = 15_000;
/** A transaction of a gateway that hangs must not keep the counters of the others locked. */
const IDLE_IN_TRANSACTION_MS = 15_000;

export interface PostgresResult {
  readonly rows: readonly { readonly [column: string]: unknown }[];
  readonly rowCount: number | null;
}

export interface PostgresClient {
  query(sql: string, values?: readonly unknown[]): Promise<PostgresResult>;
}

export interface PostgresDatabase extends PostgresClient {
  /** A statement that changes nothing: it is sent again when a restart has broken it off. */
  read(sql: string, values?: readonly unknown[]): Promise<PostgresResult>;
  /** All of `work` or nothing. */
  transaction<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  /** Whether it answers now: nothing is tried again. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

export function clientConfig(url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: 'subluminal-gateway',
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + CONNECT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    types: typeParsers(),
  };
}

export function openPool(url: string): PostgresDatabase {
  const pool = new Pool({ ...clientConfig(url), max: CONNECTIONS_MAX });
  // A connection that breaks is thrown away; whoever uses it hears of it from the query.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const query: PostgresClient['query'] = (sql, values = []) =>
    translated(async () => inOneStatement(await connected(pool), sql, values));
  return {
    query,
    read: (sql, values) =>
      query(sql, values).catch((cause: unknown) => {
        if (isStoreDown(cause)) return query(sql, values);
        throw cause;
      }),
    transaction: (work) => translated(async () => inTransaction(await connected(pool), work)),
    ping: () => answersNow(pool),
    close: () => pool.end(),
  };
}

/** Nothing was sent yet, so that trying again is safe. */
async function connected(pool: Pool): Promise<PoolClient> {
  const endMs = performance.now() + CONNECT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await pool.connect();
    } catch (cause) {
      const isOver = pool.ending || performance.now() + pauseMs > endMs;
      if (isOver || !isStoreDown(storeError(cause))) throw cause;
      await wait(pauseMs);
    }
  }
}

async function answersNow(pool: Pool): Promise<boolean> {
  const asked = pool.query('SELECT 1').then(
    () => true,
    () => false,
  );
  return Promise.race([asked, wait(PING_MS, false, { ref: false })]);
}

async function inOneStatement(
  client: PoolClient,
  sql: string,
  values: readonly unknown[],
): Promise<PostgresResult> {
  let isBroken = true;
  try {
    const result = await client.query(sql, [...values]);
    isBroken = false;
    return result;
  } finally {
    client.release(isBroken);
  }
}

async function inTransaction<T>(
  client: PoolClient,
  work: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  let isBroken = false;
  try {
    await client.query('BEGIN');
    const result = await work({ query: (sql, values = []) => client.query(sql, [...values]) });
    await client.query('COMMIT');
    return result;
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => {
      isBroken = true;
    });
    throw cause;
  } finally {
    client.release(isBroken);
  }
}

/** Integers as numbers, which are exact for all that we count; JSON as its text, as SQLite gives it. */
function typeParsers(): TypeOverrides {
  const parsers = new TypeOverrides();
  parsers.setTypeParser(types.builtins.INT8, Number);
  parsers.setTypeParser(types.builtins.JSONB, String);
  return parsers;
}

/** By the class of an SQLSTATE, or the whole. What is in neither is a bug of ours. */
const CODES: ReadonlyMap<string, StoreCode> = new Map<string, StoreCode>([
  ['08', 'SUB_STORE_DOWN'], // connection
  ['53', 'SUB_STORE_DOWN'], // resources: connections, memory, disk
  ['57', 'SUB_STORE_DOWN'], // shutdown, cancelled by a timeout
  ['58', 'SUB_STORE_DOWN'], // input and output
  ['40', 'SUB_STORE_DOWN'], // serialization, deadlock: to be tried again
  ['55', 'SUB_STORE_DOWN'], // lock not available
  ['25006', 'SUB_STORE_DOWN'], // a standby that is not yet promoted
  ['22', 'SUB_STORE_REFUSED'], // data
  ['23', 'SUB_STORE_REFUSED'], // constraints
  ['28', 'SUB_STORE_UNUSABLE'], // user or password
  ['3D', 'SUB_STORE_UNUSABLE'], // no such database
  ['42501', 'SUB_STORE_UNUSABLE'], // privileges
]);

export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw storeError(cause);
  }
}

/** Says the code and the constraint only: the text of Postgres may quote a row. */
function storeError(cause: unknown): unknown {
  if (!(cause instanceof Error) || 'fix' in cause || cause instanceof TypeError) return cause;
  const state = 'severity' in cause && 'code' in cause ? String(cause.code) : undefined;
  // Without an SQLSTATE it never came to the server, or the connection broke.
  if (state === undefined) return storeFailure('SUB_STORE_DOWN', `${errorText(cause)}.`, cause);
  const code = CODES.get(state) ?? CODES.get(state.slice(0, 2));
  if (code === undefined) return cause;
  const constraint = 'constraint' in cause ? ` by ${String(cause.constraint)}` : '';
  return storeFailure(code, `Postgres answers ${state}${constraint}.`, cause);
}
