export type { FollowedEvent, FollowOptions, LedgerClient } from './client.ts';
export { createLedgerClient } from './client.ts';
export type {
  IngestLedger,
  IngestSpool,
  LedgerStatus,
  NumberedLine,
  PruneCounts,
  PruneFilter,
  SpoolFile,
  StoredEvent,
  TakenCounts,
} from './protocol.ts';
export type { IngestOptions, IngestServer, Opened } from './server.ts';
export { openIngest } from './server.ts';
