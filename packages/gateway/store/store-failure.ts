// What can go wrong with the gateway's database, thrown: a transaction that fails must be rolled back.
import { type SubCode, ThrownFailure, tableFailure } from '@subluminal/contracts';

export type StoreCode = Extract<SubCode, `SUB_STORE_${string}`>;

export function storeFailure(code: StoreCode, detail: string, cause?: unknown): ThrownFailure {
  return new ThrownFailure({ ...tableFailure(code, detail), cause });
}

/** Whether the same work may succeed once the database is back. */
export function isStoreDown(cause: unknown): boolean {
  return cause instanceof ThrownFailure && cause.code === 'SUB_STORE_DOWN';
}
