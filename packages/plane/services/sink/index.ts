export { fileSink } from './file-sink.ts';
export { ledgerSink } from './ledger-sink.ts';
export { type BatchingSink, offSink } from './prompt-sink.ts';
export { sharedSink } from './shared-sink.ts';
export { dropSpool, listSpool, readSpool } from './spool.ts';
