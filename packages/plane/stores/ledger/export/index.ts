export { pendingChanges, unacceptedChanges } from './changed-definitions.ts';
export type { RunExport } from './export-run.ts';
export { exportRun } from './export-run.ts';
export { summaryMarkdown } from './markdown.ts';
export type { ChangedDefinition, RunSummary, Violation } from './run-summary.ts';
export { RunSummarizer } from './summary.ts';
