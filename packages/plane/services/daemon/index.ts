export { countStale } from '../ingest/conversations.ts';
export { runLedgerd } from './daemon.ts';
export { findLedger, findVerifier, type LedgerHome, withReader, withWriter } from './home.ts';
export { RETENTION_AT, retentionRequests } from './retention.ts';
export { ensureLedgerd, launcher, startLedgerd } from './start.ts';
export type { OpenWorkbench, WorkbenchHost } from './workbench-host.ts';
