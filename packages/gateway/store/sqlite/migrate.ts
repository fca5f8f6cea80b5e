// Brings a file to the schema of this version, or says why it can't.
import type { ColumnTypes, SchemaStep } from '../schema.ts';
import { FEWER_INDEXES, FIRST_STEP, USED_APPROVALS } from '../schema.ts';
import { storeFailure } from '../store-failure.ts';
import type { SqliteDatabase } from './database.ts';

const TYPES: ColumnTypes = {
  id: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  int: 'INTEGER',
  flag: 'INTEGER',
  json: 'TEXT',
  table: ' STRICT',
  keyed: ' STRICT, WITHOUT ROWID',
};

const appendOnly: SchemaStep = () => `
CREATE TRIGGER audit_event_update BEFORE UPDATE ON audit_event
BEGIN SELECT RAISE(ABORT, 'audit_event is only added to'); END;
CREATE TRIGGER audit_event_delete BEFORE DELETE ON audit_event
WHEN OLD.event_ms >= COALESCE((SELECT max(before_ms) FROM audit_retention), 0)
BEGIN SELECT RAISE(ABORT, 'audit_event is only added to'); END;
`;

export const SQLITE_STEPS: readonly SchemaStep[] = [
  (types) => FIRST_STEP(types) + appendOnly(types),
  USED_APPROVALS,
  FEWER_INDEXES,
];

/** "subg" in the header of the file: a database of something else is not touched. */
const APPLICATION_ID = 0x73_75_62_67;

/** The steps that are missing, in one transaction: whoever starts at the same time waits, and finds them done. */
export function migrateSqlite(db: SqliteDatabase, steps: readonly SchemaStep[]): void {
  db.transaction(() => {
    const version = checkedVersion(db, steps.length);
    if (version === steps.length) return;
    for (const step of steps.slice(version)) db.exec(step(TYPES));
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${steps.length}`);
  });
}

function checkedVersion(db: SqliteDatabase, known: number): number {
  const version = pragma(db, 'user_version');
  const isEmpty = db.get('SELECT 1 FROM sqlite_schema') === undefined;
  if (!isEmpty && pragma(db, 'application_id') !== APPLICATION_ID) {
    throw storeFailure('SUB_STORE_UNUSABLE', `${db.file}: it belongs to another program.`);
  }
  if (version > known) {
    const detail = `${db.file}: it has schema ${version}, this version knows ${known}.`;
    throw storeFailure('SUB_STORE_NEWER', detail);
  }
  return isEmpty ? 0 : version;
}

function pragma(db: SqliteDatabase, name: string): number {
  return Number(db.get(`PRAGMA ${name}`)?.[name]);
}
