// SQLite's result codes in our words.
import { type LedgerCode, LedgerError } from '../chain/ledger-error.ts';

const BY_CODE: ReadonlyMap<number, LedgerCode> = new Map([
  [3, 'SUB_LEDGER_READ_ONLY'], // PERM
  [5, 'SUB_LEDGER_BUSY'],
  [6, 'SUB_LEDGER_BUSY'], // LOCKED
  [8, 'SUB_LEDGER_READ_ONLY'],
  [10, 'SUB_LEDGER_IO'],
  [11, 'SUB_LEDGER_CORRUPT'],
  [13, 'SUB_LEDGER_FULL'],
  [14, 'SUB_LEDGER_IO'], // CANTOPEN
  [26, 'SUB_LEDGER_CORRUPT'], // NOTADB
]);
const BY_ERRNO: ReadonlyMap<string, LedgerCode> = new Map([
  ['ENOENT', 'SUB_LEDGER_MISSING'],
  ['EACCES', 'SUB_LEDGER_READ_ONLY'],
  ['EPERM', 'SUB_LEDGER_READ_ONLY'],
  ['EROFS', 'SUB_LEDGER_READ_ONLY'],
  ['ENOSPC', 'SUB_LEDGER_FULL'],
  ['EDQUOT', 'SUB_LEDGER_FULL'],
]);
const BUSY = 5;
const READ_ONLY = 8;
const CANT_OPEN = 14;
/** We never store a number beyond what JavaScript holds exactly. */
const OUT_OF_RANGE = /too large to be represented/;

/** What SQLite or the file system threw, as an error that says what to do. Bugs stay what they are. */
export function ledgerError(file: string, cause: unknown): unknown {
  const code = ledgerCode(cause);
  if (code === undefined || !(cause instanceof Error)) return cause;
  return new LedgerError(code, `${file}: ${cause.message}.`, cause);
}

function ledgerCode(cause: unknown): LedgerCode | undefined {
  const primary = resultCode(cause);
  if (primary !== undefined) return BY_CODE.get(primary);
  if (cause instanceof Error && OUT_OF_RANGE.test(cause.message)) return 'SUB_LEDGER_CORRUPT';
  const errno = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (typeof errno !== 'string' || !('syscall' in Object(cause))) return undefined;
  return BY_ERRNO.get(errno) ?? 'SUB_LEDGER_IO';
}

/** The primary result code; the extended one has it in its low byte. */
function resultCode(cause: unknown): number | undefined {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

export function isBusy(cause: unknown): boolean {
  return resultCode(cause) === BUSY;
}

/** The file, or what SQLite needs beside it. */
export function cannotOpen(cause: unknown): boolean {
  const code = resultCode(cause);
  return code === CANT_OPEN || code === READ_ONLY;
}

/** Runs `work`, with what it throws made clear. */
export function translated<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw ledgerError(file, cause);
  }
}
