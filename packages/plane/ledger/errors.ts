// What can go wrong with a ledger, as data: a code, a cause and a fix for each.

const LEDGER_ERRORS = {
  SUB_LEDGER_MISSING: {
    title: 'There is no ledger.',
    cause: 'The file does not exist yet, because nothing was recorded under this home folder.',
    fix: 'Run an agent through Subluminal first, or set SUB_HOME to the folder that holds the ledger.',
  },
  SUB_LEDGER_LOCKED: {
    title: 'Another process writes to the ledger.',
    cause: 'A ledger has one writer at a time, and `sub ledgerd` is already running.',
    fix: 'Use the running one, or stop it first.',
  },
  SUB_LEDGER_BUSY: {
    title: 'The ledger is busy.',
    cause: 'Another connection held the database for longer than the time limit.',
    fix: 'Try again; when it lasts, look for a program that keeps the file open.',
  },
  SUB_LEDGER_FULL: {
    title: 'The ledger cannot grow.',
    cause: 'The disk is full, or the file has reached the size that the configuration allows.',
    fix: 'Free some space, then prune old runs with `sub ledger prune`; nothing that was stored is lost.',
  },
  SUB_LEDGER_READ_ONLY: {
    title: 'The ledger cannot be written.',
    cause: 'The file or its folder may only be read.',
    fix: 'Give the user that runs `sub ledgerd` the right to write the file and its folder.',
  },
  SUB_LEDGER_CORRUPT: {
    title: 'The ledger is damaged.',
    cause: 'The file is no readable SQLite database any more.',
    fix: 'Move the file away and restore a backup, or let `sqlite3 ledger.db .recover` save what is left; then run `sub ledger verify`.',
  },
  SUB_LEDGER_FOREIGN: {
    title: 'The file is not a ledger.',
    cause: 'It is a database of something else.',
    fix: 'Point the configuration to the ledger, or move the file away.',
  },
  SUB_LEDGER_NEWER: {
    title: 'The ledger was written by a newer version.',
    cause: 'Its schema is one that this version does not know, and guessing could destroy it.',
    fix: 'Update Subluminal.',
  },
  SUB_LEDGER_ROLLED_BACK: {
    title: 'The ledger is older than its last signed head.',
    cause:
      'The database was replaced, restored from a backup, or cut; `ledger.head` knows of more.',
    fix: 'Restore the database that belongs to `ledger.head`; or accept the loss, which is then recorded in the ledger for good.',
  },
  SUB_LEDGER_TAMPERED: {
    title: 'The ledger was changed by something else.',
    cause: 'What is stored does not follow from what this process wrote or from what was signed.',
    fix: 'Run `sub ledger verify` to see the first row that is wrong.',
  },
  SUB_LEDGER_QUERY: {
    title: 'A question to the ledger is malformed.',
    cause: 'A filter, a limit or a cursor is not one that the ledger gives or takes.',
    fix: 'Correct the filter that the message names; start without a cursor.',
  },
  SUB_LEDGER_IO: {
    title: 'The ledger cannot be read or written.',
    cause: 'The operating system or SQLite reported an error.',
    fix: 'Check the disk, the folder and its permissions.',
  },
} as const;

type LedgerCode = keyof typeof LEDGER_ERRORS;

/** An error that a person can act on. */
class LedgerError extends Error {
  override readonly name = 'LedgerError';
  readonly code: LedgerCode;
  readonly fix: string;

  constructor(code: LedgerCode, detail: string, cause?: unknown) {
    const { title } = LEDGER_ERRORS[code];
    super(detail === '' ? title : `${title} ${detail}`, cause === undefined ? {} : { cause });
    this.code = code;
    this.fix = LEDGER_ERRORS[code].fix;
  }
}

export type { LedgerCode };
export { LEDGER_ERRORS, LedgerError };
