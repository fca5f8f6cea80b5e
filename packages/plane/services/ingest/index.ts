export type { LedgerClient } from './client.ts';
export { createLedgerClient } from './client.ts';
export type {
  LedgerStatus,
  NumberedLine,
  PruneCounts,
  PruneFilter,
  TakenCounts,
} from './protocol.ts';
