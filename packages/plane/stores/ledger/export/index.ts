export type { RunExport } from './export-run.ts';
export { exportRun } from './export-run.ts';
export { summaryMarkdown } from './markdown.ts';
export type { FailedCall, RunSummary, Violation } from './summary.ts';
export { RunSummarizer, summarize } from './summary.ts';
