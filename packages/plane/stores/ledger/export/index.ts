export { summaryMarkdown } from './markdown.ts';
export type { RunExport } from './run.ts';
export { exportRun } from './run.ts';
export type { FailedCall, RunSummary, Violation } from './summary.ts';
export { RunSummarizer, summarize } from './summary.ts';
