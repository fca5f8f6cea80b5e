export { countStale } from '../ingest/conversations.ts';
export type { LedgerdEnd, LedgerdOptions } from './daemon.ts';
export { runLedgerd } from './daemon.ts';
export type { LedgerHome, Whereabouts, WriterWish } from './home.ts';
export { findLedger, withReader, withWriter } from './home.ts';
export { findVerifier } from './key.ts';
export { retentionRequests } from './retention.ts';
export type { StartOptions, StartResult } from './start.ts';
export { ensureLedgerd, startLedgerd } from './start.ts';
