// What verifying and pruning read, over one connection.
import { GENESIS, sameBytes } from '../chain/hash-chain.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import { type Head, isHead } from '../chain/signed-head.ts';
import type {
  EventRow,
  EventsRequest,
  RowsRequest,
  StructureFault,
  TableRow,
  Tip,
} from '../store/stored-rows.ts';
import { TABLES } from '../store/tables.ts';
import { type Connection, inOneView } from './connection.ts';
import { doubledSeq, type LineFinder, lineFinder, linesIn, straySeq } from './line-blocks.ts';
import { gramsBefore, gramsOf } from './line-grams.ts';
import { loadSqlite, type SqlRow } from './load.ts';
import {
  anyCell,
  bytesCell,
  bytesOrNull,
  integerCell,
  integerOrNull,
  textCell,
  textOrNull,
  where,
} from './rows.ts';
import { migrate } from './schema.ts';

export const EVENT_COLUMNS = `e.seq, p.name AS producer, e.producer_seq, e.hash, e.digest, e.type, e.ts, e.run_id,
  COALESCE(l.line, e.line) AS line`;
const HEAD_COLUMNS = 'n, kind, seq, hash, count, created_at, prev, key_id, signature';

export type ChainReader = ReturnType<typeof chainReads>;

export function chainReads(connection: Connection, migrations: readonly string[]) {
  return {
    ledgerId: async () =>
      textCell(connection.one("SELECT value FROM meta WHERE key = 'ledger_id'"), 'value'),
    tip: async () => tipOf(connection),
    lastHead: async () => headsOf(connection, 'ORDER BY n DESC LIMIT 1')[0],
    /** A small text about the ledger as a whole. */
    meta: async (key: string) => {
      const row = connection.get('SELECT value FROM meta WHERE key = ?', key);
      return row === undefined ? undefined : textCell(row, 'value');
    },
    heads: async (afterN: number, limit: number) =>
      headsOf(connection, 'WHERE n > ? ORDER BY n LIMIT ?', afterN, limit),
    /** In the order of seq. */
    events: async (request: EventsRequest) => eventsOf(connection, request),
    /** How many events the rows of `runs` and of `tool_calls` say to be made of. */
    counts: async () => {
      const count = (table: string) => {
        const sql = `SELECT COALESCE(sum(events), 0) AS events FROM ${table}`;
        return integerCell(connection.one(sql), 'events');
      };
      return { runEvents: count('runs'), callEvents: count('tool_calls') };
    },
    /** The rows of a table in the order of its key. */
    rows: async (request: RowsRequest) => rowsOf(connection, request),
    /** What is defined beside or in place of our own tables and indexes; cheap. */
    schemaFaults: () => schemaFaults(connection, migrations),
    /** Reads everything once, tables and indexes, and compares the two; `isDeep` reads all lines, too. */
    contentFaults: async (isDeep: boolean) => [
      ...contentFaults(connection),
      ...(isDeep ? gramsFaults(connection) : []),
    ],
  };
}

/** Seq 0 and the genesis hash when there is no event. */
function tipOf(connection: Connection): Tip {
  const row = connection.get('SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1');
  if (row === undefined) return { seq: 0, hash: GENESIS };
  return { seq: integerCell(row, 'seq'), hash: bytesCell(row, 'hash') };
}

function headsOf(connection: Connection, rest: string, ...values: number[]): readonly Head[] {
  const found = connection.all(`SELECT ${HEAD_COLUMNS} FROM heads ${rest}`, ...values);
  return found.map(({ created_at: createdAtMs, key_id: keyId, ...others }) => {
    const head: unknown = { ...others, createdAtMs, keyId };
    if (isHead(head)) return head;
    throw ledgerFailure('SUB_LEDGER_CORRUPT', 'A head cannot be read.');
  });
}

function eventsOf(connection: Connection, request: EventsRequest): readonly EventRow[] {
  const { afterSeq, limit, runId, type, pruned, producer } = request;
  const { sql: matching, values } = where([
    ['e.seq > ?', afterSeq],
    ['e.run_id = ?', runId],
    ['e.type = ?', type],
    ['e.producer_id = (SELECT id FROM producers WHERE name = ?)', producer],
    ...(pruned === true ? ([['e.digest IS NOT NULL']] as const) : []),
  ]);
  // The join must not lose an event whose producer was removed: that is for verify to see.
  // A reader of all events reads the table itself: an index may lack rows.
  const isWhole =
    runId === undefined && type === undefined && producer === undefined && pruned !== true;
  const sql = `SELECT ${EVENT_COLUMNS}
    FROM events e ${isWhole ? 'NOT INDEXED' : ''} LEFT JOIN producers p ON p.id = e.producer_id
    LEFT JOIN lines l ON l.seq = e.seq
    WHERE ${matching} ORDER BY e.seq LIMIT ?`;
  return inOneView(connection, () => {
    const packed = lineFinder(connection);
    return connection.all(sql, ...values, limit).map((row) => eventOf(row, packed));
  });
}

export function eventOf(row: SqlRow, packed: LineFinder): EventRow {
  const seq = integerCell(row, 'seq');
  return {
    seq,
    producer: textOrNull(row, 'producer') ?? '',
    producerSeq: integerCell(row, 'producer_seq'),
    line: textOrNull(row, 'line') ?? packed(seq)?.toString('utf8') ?? null,
    digest: bytesOrNull(row, 'digest'),
    hash: bytesCell(row, 'hash'),
    type: textOrNull(row, 'type'),
    tsMs: integerOrNull(row, 'ts'),
    runId: textOrNull(row, 'run_id'),
  };
}

function rowsOf(connection: Connection, { table, after, limit }: RowsRequest): readonly TableRow[] {
  const columns = Object.entries(TABLES.find(({ name }) => name === table)?.columns ?? {});
  // The id of a call is its place in the file, so that order costs nothing.
  const keys =
    table === 'tool_calls'
      ? ['id']
      : columns.flatMap(([column, { merge }]) => (merge === 'key' ? [column] : []));
  const from =
    after === undefined ? '' : `WHERE (${keys.join(', ')}) > (${keys.map(() => '?').join(', ')})`;
  const sql = `SELECT ${columns.map(([column]) => column).join(', ')} FROM ${table} ${from}
    ORDER BY ${keys.join(', ')} LIMIT ?`;
  const values = after === undefined ? [] : keys.map((key) => after[key] ?? null);
  return connection
    .all(sql, ...values, limit)
    .map((row) => Object.fromEntries(columns.map(([column]) => [column, anyCell(row, column)])));
}

// Whether the file is what our own steps make: its schema, its pages, and each index against its
// table. The chain proves the rows of `events`; it says nothing about what stands around them.

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  /** Its table and its SQL, without white space, which a version of SQLite may write differently. */
  readonly definition: string;
}

/** `sqlite_schema` is only an alias, which a forged row could take over; this name is the table's. */
const SCHEMA_SQL = 'SELECT type, name, tbl_name, sql FROM main.sqlite_master ORDER BY type, name';
const FAULTS_MAX = 100;
const NAME_LENGTH_MAX = 80;

/** Compares the schema with the one that the same steps make in an empty database. */
async function schemaFaults(
  connection: Connection,
  migrations: readonly string[],
): Promise<readonly StructureFault[]> {
  const { DatabaseSync } = await loadSqlite();
  const empty = new DatabaseSync(':memory:');
  try {
    migrate(empty, { file: ':memory:', migrations });
    const found = schemaOf(connection.all(SCHEMA_SQL));
    const expected = schemaOf(empty.prepare(SCHEMA_SQL).all());
    return [...new Set([...found.keys(), ...expected.keys()])]
      .flatMap((key) => schemaFault(found.get(key), expected.get(key)))
      .slice(0, FAULTS_MAX);
  } finally {
    empty.close();
  }
}

function schemaOf(rows: readonly SqlRow[]): ReadonlyMap<string, SchemaObject> {
  return new Map(
    rows.map((row) => {
      const [type, name] = [textCell(row, 'type'), textCell(row, 'name')];
      // An index that SQLite makes by itself has no SQL.
      const sql = (textOrNull(row, 'sql') ?? '').replaceAll(/\s+/g, ' ');
      const bare = sql.replaceAll(/ ?([(),;]) ?/g, '$1').trim();
      return [
        `${type} ${name}`,
        { type, name, definition: `${textCell(row, 'tbl_name')}: ${bare}` },
      ];
    }),
  );
}

function schemaFault(
  found: SchemaObject | undefined,
  expected: SchemaObject | undefined,
): readonly StructureFault[] {
  if (found?.definition === expected?.definition) return [];
  if (expected === undefined) {
    const [type = '', name = ''] = [found?.type, found?.name.slice(0, NAME_LENGTH_MAX)];
    const drop = `DROP ${type.toUpperCase()} "${name.replaceAll('"', '""')}"`;
    const message = `the ${type} ${name} was added to the schema; look at it, then remove it in a database shell: ${drop}`;
    return [{ kind: 'schema', message }];
  }
  const { type, name } = expected;
  const what =
    found === undefined ? 'was removed from the schema' : 'is not the one that Subluminal makes';
  const fix =
    type === 'index'
      ? `the events can be trusted if nothing else is reported; restore a backup to get ${name} back`
      : RESTORE;
  return [
    { kind: 'schema', isTable: type === 'table', message: `the ${type} ${name} ${what}; ${fix}` },
  ];
}

const RESTORE = 'restore the ledger from a backup';

/** SQLite's own check: pages, constraints, and that each index holds what its table holds. And each line stands once. */
function contentFaults(connection: Connection): readonly StructureFault[] {
  const seq = doubledSeq(connection);
  const message = `the line of event ${seq} stands in two places, and readers may be shown another than that which was signed; ${RESTORE}`;
  const doubled: readonly StructureFault[] =
    seq === undefined ? [] : [{ kind: 'added', seq, message }];
  const stray = straySeq(connection);
  const strayMessage = `a line stands under the number ${stray}, which no event has; ${RESTORE}`;
  const added: readonly StructureFault[] =
    stray === undefined ? [] : [{ kind: 'added', seq: stray, message: strayMessage }];
  const rows = connection.all(`PRAGMA integrity_check(${FAULTS_MAX})`);
  const texts = rows.map((row) => textCell(row, 'integrity_check'));
  const faults = texts
    .filter((text) => text !== 'ok')
    .map((text): StructureFault => {
      const isIndex = /\bindex\b/.test(text);
      const fix = isIndex
        ? 'an index no longer holds what its table holds, and questions by it get wrong answers; run REINDEX in a database shell, and verify again'
        : RESTORE;
      return { kind: isIndex ? 'index' : 'unreadable', message: `${text}: ${fix}` };
    });
  return [...doubled, ...added, ...faults];
}

/** Whether a search for a text looks at every line that may hold it. */
function gramsFaults(connection: Connection): readonly StructureFault[] {
  const faults: StructureFault[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const known = gramsBefore(connection, before);
    const tip = integerOrNull(connection.one('SELECT max(seq) AS seq FROM events'), 'seq') ?? 0;
    for (const { firstSeq, lastSeq, bits } of known) {
      const range = { firstSeq, lastSeq };
      const isPlaced = lastSeq < before && lastSeq <= tip;
      const isTrue = isPlaced && sameBytes(gramsOf([[...linesIn(connection, range)]]).bits, bits);
      before = firstSeq;
      if (isTrue || faults.length >= FAULTS_MAX) continue;
      const fix = `remove them in a database shell: DELETE FROM line_grams WHERE first_seq = ${firstSeq}`;
      const message = `the grams of the lines from event ${firstSeq} on are not theirs, and a search for a text may miss calls; ${fix}`;
      faults.push({ kind: 'index', message });
    }
    if (known.length === 0) return faults;
  }
}
