export type { IncomingLine } from './chain/event-line.ts';
export { OWN_PRODUCER } from './chain/ledger-events.ts';
export { ledgerFailure } from './chain/ledger-failure.ts';
export type { Head, Witness, WitnessedHead } from './chain/signed-head.ts';
export { fileWitness, formatWitness, parseWitness } from './chain/signed-head.ts';
export { EVENT_MEMBERS, eventMember } from './event-types/registry.ts';
export type { EventMember, EventNames, NoticeText } from './event-types/types.ts';
export type { FailedCall, RunExport, RunSummary, Violation } from './export/index.ts';
export { exportRun, RunSummarizer, summarize, summaryMarkdown } from './export/index.ts';
export type { ChainReader } from './sqlite/chain-reads.ts';
export type { SqliteOptions, Store, StoreReader } from './sqlite/sqlite-store.ts';
export { openSqliteReader, openSqliteStore } from './sqlite/sqlite-store.ts';
export type {
  CallCounts,
  CallDetail,
  CallFilter,
  CallHint,
  CallRow,
  Page,
  PageRequest,
  PolicyVersion,
  RunFilter,
  RunRow,
  Stats,
} from './store/query.ts';
export type { EventRow, EventsRequest, RejectRow } from './store/stored-rows.ts';
export { FLAGS } from './store/tables.ts';
export type { Prune, PruneReport } from './verify/chain-walk.ts';
export type { FindingKind, LedgerFinding } from './verify/finding.ts';
export type { VerifyOptions, VerifyReport } from './verify/verify.ts';
export { verifyLedger } from './verify/verify.ts';
export type { IngestResult } from './write/ingest-batch.ts';
export { BATCH_LINES_MAX } from './write/ingest-batch.ts';
export type { Ledger, LedgerOptions } from './write/ledger.ts';
export { openLedger } from './write/ledger.ts';
export type { PruneRequest, PruneResult } from './write/prune.ts';
