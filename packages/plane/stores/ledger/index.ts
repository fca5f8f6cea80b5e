export type { LedgerCode } from './errors.ts';
export { LedgerError } from './errors.ts';
export type { FailedCall, RunExport, RunSummary, Violation } from './export/index.ts';
export { exportRun, RunSummarizer, summarize, summaryMarkdown } from './export/index.ts';
export type { Head } from './head.ts';
export type { IngestResult } from './ingest.ts';
export { BATCH_LINES_MAX } from './ingest.ts';
export type { Ledger, LedgerOptions } from './ledger.ts';
export { openLedger } from './ledger.ts';
export { OWN_PRODUCER } from './own-events.ts';
export type { PruneRequest, PruneResult } from './prune.ts';
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
} from './query.ts';
export type { IncomingLine } from './read-line.ts';
export type { SqliteOptions } from './sqlite/store.ts';
export { openSqliteReader, openSqliteStore } from './sqlite/store.ts';
export type {
  ChainReader,
  EventRow,
  EventsRequest,
  RejectRow,
  Store,
  StoreReader,
} from './store.ts';
export { FLAGS } from './tables.ts';
export type { Finding, FindingKind } from './verify/finding.ts';
export type { Prune, PruneReport } from './verify/own-words.ts';
export type { VerifyOptions, VerifyReport } from './verify/verify.ts';
export { verifyLedger } from './verify/verify.ts';
export type { Witness } from './witness.ts';
export { fileWitness } from './witness.ts';
export type { WitnessedHead } from './witnessed.ts';
export { formatWitness, parseWitness } from './witnessed.ts';
