export type { FollowedEvent, FollowOptions, LedgerClient } from './client.ts';
export { createLedgerClient } from './client.ts';
export { answers } from './listen.ts';
export type { IngestLedger, IngestSpool, Judgement, SpoolFile, StoredEvent } from './ports.ts';
export type {
  Answer,
  LedgerStatus,
  NumberedLine,
  PruneCounts,
  PruneWish,
  Refused,
  TakenCounts,
} from './protocol.ts';
export type { IngestOptions, IngestServer, Opened } from './server.ts';
export { openIngest } from './server.ts';
