export type { FileSinkOptions } from './file-sink.ts';
export { fileSink } from './file-sink.ts';
export type { LedgerSinkLimits, LedgerSinkOptions } from './ledger-sink.ts';
export { ledgerSink } from './ledger-sink.ts';
export type { PromptSink, PromptSinkStats, Warn } from './prompt-sink.ts';
export { offSink } from './prompt-sink.ts';
export type { ListOptions, SpoolBatch, SpoolFile, SpoolLine, SpoolReadOptions } from './spool.ts';
export { dropSpool, listSpool, readSpool } from './spool.ts';
