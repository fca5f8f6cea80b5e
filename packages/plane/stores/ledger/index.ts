export type { ListedCall } from './args/listed-call.ts';
export { listedCall } from './args/listed-call.ts';
export { callArgsTest } from './args/match-args.ts';
export {
  argFilter,
  namePattern,
  nameTest,
  pathAnywhereFilter,
  pathFilter,
} from './args/parse-filters.ts';
export { mainArgument, readArgs } from './args/read-args.ts';
export type { IncomingLine, LineText } from './chain/event-line.ts';
export { OWN_PRODUCER } from './chain/ledger-events.ts';
export { ledgerFailure } from './chain/ledger-failure.ts';
export type { Head, Witness, WitnessedHead } from './chain/signed-head.ts';
export { fileWitness, parseWitness } from './chain/signed-head.ts';
export { EVENT_MEMBERS, eventMember } from './event-types/registry.ts';
export type { NoticeText } from './event-types/types.ts';
export { eventAbout } from './export/call-events.ts';
export type { ChangedDefinition, RunExport, RunSummary, Violation } from './export/index.ts';
export {
  exportRun,
  pendingChanges,
  RunSummarizer,
  summaryMarkdown,
  unacceptedChanges,
} from './export/index.ts';
export type { ChainReader } from './sqlite/chain-reads.ts';
export type { Store, StoreReader } from './sqlite/sqlite-store.ts';
export { openSqliteReader, openSqliteStore, requireLedger } from './sqlite/sqlite-store.ts';
export type {
  CallCounts,
  CallDetail,
  CallFilter,
  CallRow,
  HistogramRequest,
  NamePattern,
  Page,
  PageRequest,
  RunFilter,
  RunRow,
  ServerSeries,
  ServerSeriesQuery,
  ServerUse,
  Stats,
  TurnCostsQuery,
  TurnTotal,
} from './store/query.ts';
export type { EventRow, EventsRequest } from './store/stored-rows.ts';
export { FLAGS } from './store/tables.ts';
export type { Prune } from './verify/chain-walk.ts';
export type { LedgerFinding } from './verify/finding.ts';
export type { VerifyReport } from './verify/verify.ts';
export { verifyLedger } from './verify/verify.ts';
export type { IngestResult } from './write/ingest-batch.ts';
export { BATCH_LINES_MAX } from './write/ingest-batch.ts';
export type { Ledger } from './write/ledger.ts';
export { openLedger } from './write/ledger.ts';
export type { PruneRequest } from './write/prune.ts';
