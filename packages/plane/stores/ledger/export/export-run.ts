// A past run as a trace bundle, read from the ledger page by page.
import type { PolicyRef } from '@subluminal/contracts';
import type { ChainReader } from '../sqlite/chain-reads.ts';
import { eventPages } from '../store/stored-rows.ts';
import { summaryMarkdown } from './markdown.ts';
import type { RunSummary } from './run-summary.ts';
import { RunSummarizer } from './summary.ts';

export interface RunExport {
  readonly summary: RunSummary;
  /** `summary.md`. */
  readonly markdown: string;
  /** Which policy the run began with; its rules are among the ledger's policies, if recorded. */
  readonly policy: PolicyRef | null;
  /** `events.jsonl`, line by line, without newlines. */
  lines(): AsyncIterable<string>;
}

/** Undefined when the ledger has no event of the run. */
export async function exportRun(
  reader: ChainReader,
  runId: string,
): Promise<RunExport | undefined> {
  const summarizer = new RunSummarizer();
  let events = 0;
  for await (const line of linesOf(reader, runId)) {
    summarizer.addLine(line);
    events += 1;
  }
  if (events === 0) return undefined;
  const summary = summarizer.finish();
  return {
    summary,
    markdown: summaryMarkdown(summary),
    policy: summary.policy,
    lines: () => linesOf(reader, runId),
  };
}

async function* linesOf(reader: ChainReader, runId: string): AsyncGenerator<string, undefined> {
  for await (const rows of eventPages(reader, { runId })) {
    for (const { line } of rows) if (line !== null) yield line;
  }
  return undefined;
}
