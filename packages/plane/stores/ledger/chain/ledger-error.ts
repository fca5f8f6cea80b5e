// What can go wrong with a ledger. The words are those of the one table of errors.
import { errorEntry, type SubCode } from '@subluminal/contracts';

export type LedgerCode = Extract<SubCode, `SUB_LEDGER_${string}`>;

/** An error that a person can act on. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
  readonly code: LedgerCode;
  readonly fix: string;

  constructor(code: LedgerCode, detail: string, cause?: unknown) {
    const { title, fix } = errorEntry(code);
    super(detail === '' ? title : `${title} ${detail}`, cause === undefined ? {} : { cause });
    this.code = code;
    this.fix = fix;
  }
}
