// What can go wrong with a ledger, thrown: a transaction that fails must be rolled back.
import { type SubCode, ThrownFailure, tableFailure } from '@subluminal/contracts';

export type LedgerCode = Extract<SubCode, `SUB_LEDGER_${string}`>;

export function ledgerFailure(code: LedgerCode, detail: string, cause?: unknown): ThrownFailure {
  return new ThrownFailure({ ...tableFailure(code, detail), cause });
}
