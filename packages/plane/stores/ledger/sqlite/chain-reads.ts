// What verifying and pruning read, over one connection.
import { GENESIS } from '../chain/hash-chain.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import { type Head, isHead } from '../chain/signed-head.ts';
import type {
  ChainReader,
  EventRow,
  EventsRequest,
  ProjectionCounts,
  RowsRequest,
  StructureFault,
  TableRow,
  Tip,
} from '../store/engine.ts';
import { TABLES, type Table } from '../store/tables.ts';
import type { Connection } from './connection.ts';
import { loadSqlite } from './load.ts';
import {
  anyCell,
  bytesCell,
  bytesOrNull,
  integerCell,
  integerOrNull,
  type RawRow,
  rowOf,
  textCell,
  textOrNull,
  where,
} from './rows.ts';
import { migrate } from './schema.ts';

export const EVENT_COLUMNS =
  'e.seq, p.name AS producer, e.producer_seq, e.hash, e.digest, e.type, e.ts, e.run_id, e.line';
const HEAD_COLUMNS = 'n, kind, seq, hash, count, created_at, prev, key_id, signature';

/** All methods answer at once; they are async because a server's would be. */
export function chainReads(connection: Connection, migrations: readonly string[]): ChainReader {
  return {
    ledgerId: async () => ledgerIdOf(connection),
    tip: async () => tipOf(connection),
    lastHead: async () => headsOf(connection, 'ORDER BY n DESC LIMIT 1')[0],
    meta: async (key) => metaOf(connection, key),
    heads: async (afterN, limit) =>
      headsOf(connection, 'WHERE n > ? ORDER BY n LIMIT ?', afterN, limit),
    events: async (request) => eventsOf(connection, request),
    counts: async () => countsOf(connection),
    rows: async (request) => rowsOf(connection, request),
    schemaFaults: () => schemaFaults(connection, migrations),
    contentFaults: async () => contentFaults(connection),
  };
}

function ledgerIdOf(connection: Connection): string {
  const row = connection.get("SELECT value FROM meta WHERE key = 'ledger_id'");
  return textCell(rowOf(row), 'value');
}

function metaOf(connection: Connection, key: string): string | undefined {
  const row = connection.get('SELECT value FROM meta WHERE key = ?', key);
  return row === undefined ? undefined : textCell(rowOf(row), 'value');
}

function tipOf(connection: Connection): Tip {
  const row = connection.get('SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1');
  if (row === undefined) return { seq: 0, hash: GENESIS };
  const cells = rowOf(row);
  return { seq: integerCell(cells, 'seq'), hash: bytesCell(cells, 'hash') };
}

function headsOf(connection: Connection, rest: string, ...values: number[]): readonly Head[] {
  const found = connection.all(`SELECT ${HEAD_COLUMNS} FROM heads ${rest}`, ...values);
  return found.map((row) => {
    const { created_at: createdAtMs, key_id: keyId, ...others } = rowOf(row);
    const head: unknown = { ...others, createdAtMs, keyId };
    if (isHead(head)) return head;
    throw ledgerFailure('SUB_LEDGER_CORRUPT', 'A head cannot be read.');
  });
}

function eventsOf(connection: Connection, request: EventsRequest): readonly EventRow[] {
  const { afterSeq, limit, runId, pruned, producer } = request;
  const { sql: matching, values } = where([
    ['e.seq > ?', afterSeq],
    ['e.run_id = ?', runId],
    ['e.producer_id = (SELECT id FROM producers WHERE name = ?)', producer],
    ...(pruned === true ? ([['e.digest IS NOT NULL']] as const) : []),
  ]);
  // The join must not lose an event whose producer was removed: that is for verify to see.
  // A reader of all events reads the table itself: an index may lack rows.
  const isWhole = runId === undefined && producer === undefined && pruned !== true;
  const sql = `SELECT ${EVENT_COLUMNS}
    FROM events e ${isWhole ? 'NOT INDEXED' : ''} LEFT JOIN producers p ON p.id = e.producer_id
    WHERE ${matching} ORDER BY e.seq LIMIT ?`;
  return connection.all(sql, ...values, limit).map(eventOf);
}

export function eventOf(value: unknown): EventRow {
  const row = rowOf(value);
  return {
    seq: integerCell(row, 'seq'),
    producer: textOrNull(row, 'producer') ?? '',
    producerSeq: integerCell(row, 'producer_seq'),
    line: textOrNull(row, 'line'),
    digest: bytesOrNull(row, 'digest'),
    hash: bytesCell(row, 'hash'),
    type: textOrNull(row, 'type'),
    tsMs: integerOrNull(row, 'ts'),
    runId: textOrNull(row, 'run_id'),
  };
}

function countsOf(connection: Connection): ProjectionCounts {
  const count = (table: string) => {
    const sql = `SELECT count(*) AS rows, COALESCE(sum(events), 0) AS events FROM ${table}`;
    const row = rowOf(connection.get(sql));
    return { rows: integerCell(row, 'rows'), events: integerCell(row, 'events') };
  };
  const [runs, calls] = [count('runs'), count('tool_calls')];
  return {
    runs: runs.rows,
    runEvents: runs.events,
    calls: calls.rows,
    callEvents: calls.events,
  };
}

function rowsOf(connection: Connection, request: RowsRequest): readonly TableRow[] {
  const table = TABLES.find(({ name }) => name === request.table);
  if (table === undefined) throw new Error(`no table ${request.table}`);
  const columns = Object.keys(table.columns);
  // The id of a call is its place in the file, so that order costs nothing.
  const keys = table.name === 'tool_calls' ? ['id'] : keysOf(table);
  const { after, limit } = request;
  const from =
    after === undefined ? '' : `WHERE (${keys.join(', ')}) > (${keys.map(() => '?').join(', ')})`;
  const sql = `SELECT ${columns.join(', ')} FROM ${table.name} ${from}
    ORDER BY ${keys.join(', ')} LIMIT ?`;
  const values = after === undefined ? [] : keys.map((key) => after[key] ?? null);
  return connection.all(sql, ...values, limit).map((value) => {
    const row = rowOf(value);
    return Object.fromEntries(columns.map((column) => [column, anyCell(row, column)]));
  });
}

function keysOf({ columns }: Table): readonly string[] {
  return Object.keys(columns).filter((column) => columns[column]?.merge === 'key');
}

// Whether the file is what our own steps make: its schema, its pages, and each index against its
// table. The chain proves the rows of `events`; it says nothing about what stands around them.

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  /** Null for the indexes that SQLite makes by itself. */
  readonly sql: string | null;
}

type Schema = ReadonlyMap<string, SchemaObject>;

/** `sqlite_schema` is only an alias, which a forged row could take over; this name is the table's. */
const SCHEMA_SQL = 'SELECT type, name, tbl_name, sql FROM main.sqlite_master ORDER BY type, name';
const FAULTS_MAX = 100;
const NAME_LENGTH_MAX = 80;

/** Compares the schema with the one that the same steps make in an empty database. */
async function schemaFaults(
  connection: Connection,
  migrations: readonly string[],
): Promise<readonly StructureFault[]> {
  const found = schemaOf(connection.all(SCHEMA_SQL));
  const expected = await expectedSchema(migrations);
  const faults: StructureFault[] = [];
  for (const [key, one] of found) {
    const should = expected.get(key);
    if (should === undefined) faults.push(added(one));
    else if (!isSame(one, should)) faults.push(changed(one));
  }
  for (const [key, one] of expected) if (!found.has(key)) faults.push(missing(one));
  return faults.slice(0, FAULTS_MAX);
}

async function expectedSchema(migrations: readonly string[]): Promise<Schema> {
  const { DatabaseSync } = await loadSqlite();
  const db = new DatabaseSync(':memory:');
  try {
    migrate(db, { file: ':memory:', migrations });
    return schemaOf(db.prepare(SCHEMA_SQL).all());
  } finally {
    db.close();
  }
}

function schemaOf(rows: readonly unknown[]): Schema {
  return new Map(
    rows.map((value) => {
      const row = rowOf(value);
      const [type, name] = [textCell(row, 'type'), textCell(row, 'name')];
      const one = { type, name, table: textCell(row, 'tbl_name'), sql: sqlOf(row) };
      return [`${type} ${name}`, one];
    }),
  );
}

/** Without what a version of SQLite may write differently: white space. */
function sqlOf(row: RawRow): string | null {
  const sql = textOrNull(row, 'sql');
  return (
    sql
      ?.replaceAll(/\s+/g, ' ')
      .replaceAll(/ ?([(),;]) ?/g, '$1')
      .trim() ?? null
  );
}

function isSame(one: SchemaObject, other: SchemaObject): boolean {
  return one.table === other.table && one.sql === other.sql;
}

function added({ type, name }: SchemaObject): StructureFault {
  const what = `the ${shown(type)} ${shown(name)} was added to the schema`;
  const fix = `look at it, then remove it in a database shell: DROP ${type.toUpperCase()} ${quoted(name)}`;
  return { kind: 'schema', isTable: false, message: `${what}; ${fix}` };
}

function changed({ type, name }: SchemaObject): StructureFault {
  const message = `the ${type} ${name} is not the one that Subluminal makes; ${remedy(type, name)}`;
  return { kind: 'schema', isTable: type === 'table', message };
}

function missing({ type, name }: SchemaObject): StructureFault {
  const message = `the ${type} ${name} was removed from the schema; ${remedy(type, name)}`;
  return { kind: 'schema', isTable: type === 'table', message };
}

function remedy(type: string, name: string): string {
  return type === 'index'
    ? `the events can be trusted if nothing else is told; restore a backup to get ${name} back`
    : 'restore the ledger from a backup';
}

function quoted(name: string): string {
  return `"${shown(name).replaceAll('"', '""')}"`;
}

function shown(text: string): string {
  return text.slice(0, NAME_LENGTH_MAX);
}

/** SQLite's own check: pages, constraints, and that each index holds what its table holds. */
function contentFaults(connection: Connection): readonly StructureFault[] {
  const rows = connection.all(`PRAGMA integrity_check(${FAULTS_MAX})`);
  const texts = rows.map((row) => textCell(rowOf(row), 'integrity_check'));
  return texts
    .filter((text) => text !== 'ok')
    .map((text): StructureFault => {
      const isIndex = /\bindex\b/.test(text);
      const fix = isIndex
        ? 'an index no longer holds what its table holds, and questions by it get wrong answers; run REINDEX in a database shell, and verify again'
        : 'restore the ledger from a backup';
      return {
        kind: isIndex ? 'index' : 'damaged',
        isTable: !isIndex,
        message: `${text}: ${fix}`,
      };
    });
}
