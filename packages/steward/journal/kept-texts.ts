// What people have said and tools have answered: what is forgotten of it, and what is too old.
import { forgetTexts, type JournalForgetReport } from './forget-texts.ts';
import { pruneRows } from './prune-journal.ts';
import type { TableAccess } from './table-access.ts';

export class KeptTexts {
  readonly #access: TableAccess;

  constructor(access: TableAccess) {
    this.#access = access;
  }

  /** Takes these out of all texts, also of the log that SQLite writes ahead. */
  forget(texts: readonly string[]): JournalForgetReport {
    const { db, write } = this.#access;
    const told = write(() => forgetTexts(db, texts));
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return told;
  }

  /** A part of what ended before; 0 when nothing is left of it. */
  prune(beforeMs: number): number {
    const { db, write } = this.#access;
    return write(() => pruneRows(db, beforeMs));
  }
}
