// Brings a database to the schema of this version, or says why it can't.
import { LedgerError } from '../chain/ledger-error.ts';
import { integerCell, rowOf } from './cells.ts';
import type { Database } from './load.ts';

/** "sub!" in the header of the file: a database of something else is not touched. */
const APPLICATION_ID = 0x73_75_62_21;

interface Plan {
  readonly file: string;
  readonly migrations: readonly string[];
}

/** The steps that are missing, all in one transaction. */
export function migrate(db: Database, { file, migrations }: Plan): void {
  const version = checkedVersion(db, { file, migrations });
  if (version === migrations.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const step of migrations.slice(version)) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
    db.exec('COMMIT');
  } catch (cause) {
    if (db.isTransaction) db.exec('ROLLBACK');
    if (!(cause instanceof Error) || !isStepFailure(cause)) throw cause;
    // Our own steps fit each other: somebody has changed the tables, or the number.
    const detail = `${file}: it says to have schema ${version}, and has another (${cause.message}).`;
    throw new LedgerError('SUB_LEDGER_CORRUPT', detail, cause);
  }
}

/** SQLITE_ERROR: a statement that does not fit the tables. */
function isStepFailure(cause: Error): boolean {
  return 'errcode' in cause && cause.errcode === 1;
}

/** The schema's version; 0 for an empty file. */
export function checkedVersion(db: Database, { file, migrations }: Plan): number {
  const version = pragma(db, 'user_version');
  const application = pragma(db, 'application_id');
  const empty = pragma(db, 'schema_version') === 0;
  if (!empty && application !== APPLICATION_ID) throw new LedgerError('SUB_LEDGER_FOREIGN', file);
  if (version > migrations.length) {
    const known = `it has schema ${version}, this version knows ${migrations.length}`;
    throw new LedgerError('SUB_LEDGER_NEWER', `${file}: ${known}.`);
  }
  // All steps of a start are one transaction: tables without a version are nobody's first step.
  if (!empty && version < 1) {
    throw new LedgerError(
      'SUB_LEDGER_CORRUPT',
      `${file}: its schema version was set to ${version}.`,
    );
  }
  return empty ? 0 : version;
}

function pragma(db: Database, name: string): number {
  return integerCell(rowOf(db.prepare(`PRAGMA ${name}`).get()), name);
}
