// One writer per ledger. The operating system holds the lock for as long as the process lives, so
// that no crash leaves a stale one behind.
import { LedgerError } from '../chain/ledger-error.ts';
import { prepareFile } from './connection.ts';
import { isBusy, ledgerError } from './failure.ts';
import { type Database, loadSqlite } from './load.ts';

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
    if (isBusy(cause)) throw new LedgerError('SUB_LEDGER_LOCKED', file, cause);
    throw ledgerError(lockFile, cause);
  }
  const held = db;
  return { release: () => held.close() };
}
