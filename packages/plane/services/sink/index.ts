export { fileSink } from './file-sink.ts';
export { ledgerSink } from './ledger-sink.ts';
export { offSink, type PromptSink } from './prompt-sink.ts';
export { dropSpool, listSpool, readSpool } from './spool.ts';
