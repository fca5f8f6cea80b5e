// Whether the file is what our own steps make: its schema, its pages, and each index against its
// table. The chain proves the rows of `events`; it says nothing about what stands around them.
import type { StructureFault } from '../store/engine.ts';
import { type RawRow, rowOf, textCell, textOrNull } from './cells.ts';
import type { Connection } from './connection.ts';
import { loadSqlite } from './load.ts';
import { migrate } from './migrate.ts';

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
export async function schemaFaults(
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
export function contentFaults(connection: Connection): readonly StructureFault[] {
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
